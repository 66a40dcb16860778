import { useEffect, useState } from 'preact/hooks'
import { languageNames, languages } from '../../../kernel/languages.js'
import { pageWords as text } from '../../i18n/dashboard/page.js'
import { words } from '../../i18n/dashboard.js'
import { usd } from '../../lib/money.js'
import { Checkbox, Field, Form, Select, TextField } from '../../ui/fields.js'
import { Announcer, Button, LinkButton, TextButton } from '../../ui/kit.js'
import type { OwnPage } from '../answers.js'
import { call } from '../api.js'
import { dateText } from '../dates.js'
import { HandleForm, suggestHandle } from '../home/handle-form.js'
import { YourLink } from '../home/your-link.js'
import { Card } from '../parts/cards.js'
import { NumberField } from '../parts/fields.js'
import { Submit } from '../parts/forms.js'
import { ScreenLink } from '../parts/links.js'
import { Unread } from '../parts/notices.js'
import { useForm, useLoad } from '../requests.js'
import { useLeaveQuestion } from '../route.js'
import { useSession } from '../session.js'
import { type Page, type Part, PictureCard } from './picture.js'
import { QrCard } from './qr.js'

const mostLinks = 5

/** The public page as its creator edits it, and its link. */
export function PageScreen() {
  const load = useLoad<OwnPage>('/creators/page')
  const [page, setPage] = useState<Page>()
  useEffect(() => setPage(load.data?.page), [load.data])
  if (page === undefined) return <Unread of={load} />
  const onSaved = (answer: OwnPage): void => setPage(answer.page)
  return (
    <div class="columns">
      <div class="stack">
        {page.url !== null && (
          <YourLink url={page.url}>
            <LinkButton href={page.url} newTab text={text.see} />
          </YourLink>
        )}
        <HandleCard page={page} onSaved={onSaved} />
        {page.url !== null && page.handle !== null && (
          <QrCard handle={page.handle} url={page.url} name={page.name} />
        )}
        {page.url !== null && <PictureCard page={page} onSaved={onSaved} />}
      </div>
      <ContentForm page={page} onSaved={onSaved} />
    </div>
  )
}

function HandleCard({ page, onSaved }: Part) {
  const { me } = useSession()
  const [open, setOpen] = useState(page.handle === null)
  const first = page.handle === null
  return (
    <Card name="handle" title={first ? text.choose : text.change}>
      {page.oldHandles.map(({ handle, until }) => (
        <p key={handle} class="quiet">
          {text.old(handle, dateText(until))}
        </p>
      ))}
      {open ? (
        <HandleForm
          handle={page.handle ?? suggestHandle(me.name)}
          {...(!first && { hint: text.keeps })}
          onSaved={(answer) => {
            setOpen(false)
            onSaved(answer)
          }}
        />
      ) : (
        <Button text={text.changeOpen} onPress={() => setOpen(true)} />
      )}
    </Card>
  )
}

/** The form's values: every text is one, also where the page has none. */
function valuesOf({ words: about, thanks, links, goal, wall, robots, currency, language }: Page) {
  return {
    words: about ?? '',
    thanks: thanks ?? '',
    links,
    goalTitle: goal?.title ?? '',
    goalUsd: goal?.amountUsd,
    wall,
    robots,
    currency: currency ?? ('' as const),
    language: language ?? ('' as const),
  }
}
type Values = ReturnType<typeof valuesOf>

function bodyOf({ goalTitle, goalUsd, links, currency, language, ...rest }: Values) {
  const goal =
    goalTitle.trim() === '' || goalUsd === undefined ? null : { title: goalTitle, amountUsd: goalUsd }
  const given = links.filter(({ title, url }) => `${title}${url}`.trim() !== '')
  return {
    ...rest,
    goal,
    links: given.map(({ title, url }) => ({ title, url: withScheme(url) })),
    currency: currency || null,
    language: language || null,
  }
}

/** People type `instagram.com/ada`. */
function withScheme(url: string): string {
  return /^[a-z][a-z+.-]*:/i.test(url.trim()) ? url.trim() : `https://${url.trim()}`
}

const currencies = ['', 'NGN', 'USD'] as const
const languageChoices = ['', ...languages] as const
const languageTexts = { '': text.visitorsLanguage, ...languageNames }

function ContentForm({ page, onSaved }: Part) {
  const save = useForm<Values>(valuesOf(page), async (values) => {
    const answer = await call<OwnPage>('PATCH', '/creators/page', { body: bodyOf(values) })
    onSaved(answer)
    // What the service has cleaned counts as saved.
    save.set(valuesOf(answer.page))
  })
  const { values, done: saved } = save
  useLeaveQuestion(
    JSON.stringify(bodyOf(values)) !== JSON.stringify(bodyOf(valuesOf(page))),
    words.settings.leave,
  )
  const area = (name: 'words' | 'thanks', label: string, hint: string) => (
    <Field label={label} hint={hint}>
      <textarea
        class="input"
        rows={3}
        maxLength={500}
        value={values[name]}
        onInput={({ currentTarget }) => save.set({ [name]: currentTarget.value })}
      />
    </Field>
  )
  return (
    <Form class="card stack" aria-labelledby="content-title" onSubmit={save.run}>
      <h2 id="content-title">{text.title}</h2>
      <p class="quiet">
        {text.name(page.name)} <ScreenLink to="settings">{text.toName}</ScreenLink>
      </p>
      {area('words', text.words, text.wordsHint)}
      <Links links={values.links} onChange={(links) => save.set({ links })} />
      <fieldset class="stack">
        <legend class="field__label">{text.goal}</legend>
        <TextField label={text.goalTitle} hint={text.goalHint} maxLength={80} {...save.field('goalTitle')} />
        <NumberField
          label={text.goalUsd}
          value={values.goalUsd}
          onChange={(goalUsd) => save.set({ goalUsd })}
        />
        {page.goal !== null && (
          <p class="quiet">{text.raised(usd(page.goal.raisedUsd), usd(page.goal.amountUsd))}</p>
        )}
      </fieldset>
      <Select
        label={text.currency}
        choices={currencies}
        texts={text.currencies}
        chosen={values.currency}
        onChoose={(currency) => save.set({ currency })}
      />
      <Select
        label={text.language}
        choices={languageChoices}
        texts={languageTexts}
        chosen={values.language}
        onChoose={(language) => save.set({ language })}
      />
      {area('thanks', text.thanks, text.thanksHint)}
      <div>
        <Checkbox label={text.wall} value={values.wall} onChange={(wall) => save.set({ wall })} />
        <Checkbox label={text.robots} value={values.robots} onChange={(robots) => save.set({ robots })} />
      </div>
      <Announcer text={saved ? words.settings.saved : ''} />
      <Submit text={saved ? words.settings.saved : words.settings.save} of={save} />
    </Form>
  )
}

type Link = Values['links'][number]
type LinksProps = { links: readonly Link[]; onChange: (links: Link[]) => void }

function Links({ links, onChange }: LinksProps) {
  const change = (at: number, part: Partial<Link>): void =>
    onChange(links.map((link, index) => (index === at ? { ...link, ...part } : link)))
  return (
    <fieldset class="stack">
      <legend class="field__label">{text.links}</legend>
      {links.map(({ title, url }, at) => (
        <div key={at} class="pair">
          <TextField
            label={text.linkTitle(at + 1)}
            maxLength={50}
            value={title}
            onInput={(typed) => change(at, { title: typed })}
          />
          <TextField
            label={text.linkUrl(at + 1)}
            inputMode="url"
            autocapitalize="none"
            spellcheck={false}
            maxLength={500}
            value={url}
            onInput={(typed) => change(at, { url: typed })}
          />
          <TextButton
            text={text.removeLink(at + 1)}
            onPress={() => onChange(links.filter((_, index) => index !== at))}
          />
        </div>
      ))}
      {links.length < mostLinks && (
        <Button text={text.addLink} onPress={() => onChange([...links, { title: '', url: '' }])} />
      )}
    </fieldset>
  )
}
