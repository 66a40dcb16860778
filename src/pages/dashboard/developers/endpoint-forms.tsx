import { useState } from 'preact/hooks'
import { TippingError } from '../../../sdk/client/errors.js'
import { words } from '../../i18n/dashboard.js'
import { Checkbox, RadioGroup, TextField } from '../../ui/fields.js'
import type { Webhook, WebhookSecret } from '../answers.js'
import { call } from '../api.js'
import { type Ending, FormDialog } from '../parts/forms.js'
import { useForm } from '../requests.js'
import { hooksPath } from './endpoint.js'

type EventType = keyof typeof words.eventTypes
type Group = keyof typeof words.eventGroups

const groups = Object.keys(words.eventGroups) as Group[]
const typesOf = (group: Group): EventType[] =>
  (Object.keys(words.eventTypes) as EventType[]).filter((type) => type.startsWith(`${group}.`))

type EndpointFormProps = Ending & { hook?: Webhook; onMade?: (made: WebhookSecret) => void }

/** Adds an endpoint, or changes one. */
export function EndpointForm({ hook, onMade, onClose, onDone }: EndpointFormProps) {
  /** What is wrong with the URL, in the service's words. */
  const [problem, setProblem] = useState<string>()
  const first = {
    url: hook?.url ?? '',
    description: hook?.description ?? '',
    which: hook === undefined || hook.types.length === 0 ? ('all' as const) : ('some' as const),
    types: hook?.types ?? [],
  }
  const form = useForm<Typed>(first, async ({ which, types, ...typed }) => {
    const body = { ...typed, types: which === 'all' ? [] : types }
    try {
      if (hook !== undefined) await call('PATCH', `${hooksPath}/${hook.id}`, { body })
      else onMade?.(await call<WebhookSecret>('POST', hooksPath, { body }))
    } catch (error) {
      if (error instanceof TippingError) setProblem(error.details[0]?.problem)
      throw error
    }
    onClose()
    onDone()
  })
  const { which, types } = form.values
  const text = words.hooks
  return (
    <FormDialog
      title={hook === undefined ? text.addTitle : text.changeTitle}
      kind="primary"
      submit={hook === undefined ? text.add : text.save}
      of={form}
      onSubmit={() => (which === 'some' && types.length === 0 ? form.fail('no_types') : form.run())}
      onClose={onClose}
    >
      <TextField
        label={text.url}
        name="url"
        required
        inputMode="url"
        spellcheck={false}
        placeholder="https://example.com/webhooks"
        {...form.field('url', ['invalid_webhook_url'], () => text.problem(problem ?? ''))}
      />
      <TextField
        label={text.description}
        name="description"
        maxLength={200}
        placeholder={text.descriptionExample}
        {...form.field('description')}
      />
      <RadioGroup
        name="which"
        legend={text.which}
        named
        choices={['all', 'some'] as const}
        texts={text}
        chosen={which}
        onChoose={(chosen) => form.set({ which: chosen })}
      />
      {which === 'some' && <TypeBoxes chosen={types} onChange={(chosen) => form.set({ types: chosen })} />}
    </FormDialog>
  )
}

interface Typed {
  readonly url: string
  readonly description: string
  readonly which: 'all' | 'some'
  readonly types: readonly string[]
}

type TypeBoxesProps = { chosen: readonly string[]; onChange: (chosen: readonly string[]) => void }

function TypeBoxes({ chosen, onChange }: TypeBoxesProps) {
  return (
    <>
      {groups.map((group) => (
        <fieldset key={group}>
          <legend class="field__label">{words.eventGroups[group]}</legend>
          {typesOf(group).map((type) => (
            <Checkbox
              key={type}
              label={
                <>
                  {words.eventTypes[type]} <code class="quiet">{type}</code>
                </>
              }
              value={chosen.includes(type)}
              onChange={(on) => onChange(on ? [...chosen, type] : chosen.filter((other) => other !== type))}
            />
          ))}
        </fieldset>
      ))}
    </>
  )
}

const replays = ['missed', 'now'] as const

export function EnableDialog({ hook, onClose, onDone }: Ending & { hook: Webhook }) {
  const form = useForm<{ replay: (typeof replays)[number] }>({ replay: 'missed' }, async ({ replay }) => {
    const body = { status: 'active', replay: replay === 'missed' }
    await call('PATCH', `${hooksPath}/${hook.id}`, { body })
    onClose()
    onDone()
  })
  const text = words.hooks
  return (
    <FormDialog title={text.turnOnTitle} kind="primary" submit={text.turnOn} of={form} onClose={onClose}>
      <RadioGroup
        name="replay"
        legend={text.turnOnEffect}
        named
        stacked
        choices={replays}
        texts={text.replay}
        chosen={form.values.replay}
        onChoose={(replay) => form.set({ replay })}
      />
    </FormDialog>
  )
}
