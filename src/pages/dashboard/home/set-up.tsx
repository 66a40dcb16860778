import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { RadioGroup } from '../../ui/fields.js'
import { Button, Icon, TextButton } from '../../ui/kit.js'
import type { OwnPage, Profile } from '../answers.js'
import { call } from '../api.js'
import { Card } from '../parts/cards.js'
import { alertWasTried } from '../parts/first-alert.js'
import { Dialog, type Ending, FormDialog } from '../parts/forms.js'
import { ScreenLink } from '../parts/links.js'
import { FaultNotice } from '../parts/notices.js'
import { type Loaded, useSubmit } from '../requests.js'
import { useDrawer } from '../route.js'
import { useSession } from '../session.js'
import { CodeForm } from '../sign-in/sign-in.js'
import { HandleForm, suggestHandle } from './handle-form.js'

export function SetUp({ page, profile }: { page: Loaded<OwnPage>; profile: Loaded<Profile> }) {
  const { me, refresh } = useSession()
  const drawer = useDrawer()
  const send = useSubmit(async () => {
    await call('POST', '/auth/otp/start', { body: { email: me.email } })
    drawer.show('verify')
  })
  const verified = me.emailVerifiedAt !== null
  const hasLink = page.data?.page.handle !== null
  const chosen = profile.data?.creator.tokensChosen ?? true
  const tried = me.walletPublicKey !== null && alertWasTried(me.walletPublicKey)
  if (page.data === undefined || (hasLink && verified && me.walletPublicKey && tried && chosen)) return null
  return (
    <Card name="set-up" title={words.setUp.title}>
      {!hasLink && <HandleForm handle={suggestHandle(me.name)} onSaved={page.reload} />}
      <ul class="steps">
        <Step done={hasLink} text={words.setUp.link} />
        <Step done={verified} text={words.setUp.email}>
          {!verified && <TextButton text={words.setUp.verify} onPress={send.run} />}
        </Step>
        <Step
          done={me.walletPublicKey !== null}
          text={me.walletPublicKey === null ? words.setUp.walletComing : words.setUp.wallet}
        />
        <Step done={chosen} text={words.setUp.receive}>
          {!chosen && <TextButton text={words.setUp.chooseReceive} onPress={() => drawer.show('receive')} />}
        </Step>
        <Step done={tried} text={words.setUp.alert}>
          {!tried && <ScreenLink to="overlay">{words.setUp.tryAlert}</ScreenLink>}
        </Step>
      </ul>
      <p class="quiet">
        {words.setUp.ownSite} <ScreenLink to="developers">{words.setUp.toSite}</ScreenLink>
      </p>
      <FaultNotice fault={send.fault} />
      {drawer.open === 'receive' && <ReceiveChoice onClose={drawer.close} onDone={profile.reload} />}
      {drawer.open === 'verify' && !verified && (
        <Dialog title={words.setUp.verifyTitle} onClose={drawer.close}>
          <CodeForm
            email={me.email}
            submit={words.setUp.confirmEmail}
            onSignedIn={() => {
              drawer.close()
              refresh()
            }}
          />
          <Button text={words.cancel} onPress={drawer.close} />
        </Dialog>
      )}
    </Card>
  )
}

function Step({ done, text, children }: { done: boolean; text: string; children?: JSX.Element | false }) {
  return (
    <li class={`steps__step ${done ? 'steps__step--done' : ''}`}>
      <span class="steps__mark">
        {done && <Icon name="tick" size={16} />}
        <span class="visually-hidden">{done ? words.setUp.done : words.setUp.open}</span>
      </span>
      <span>{text}</span>
      {children}
    </li>
  )
}

const ways = ['usdc', 'sent'] as const
type Way = (typeof ways)[number]

/** Asks a new creator what tips arrive as, because only USDC can be withdrawn to a bank. */
function ReceiveChoice({ onClose, onDone }: Ending) {
  const [way, setWay] = useState<Way>('usdc')
  const save = useSubmit(async () => {
    await call('PATCH', '/creators/me', { body: { settings: { autoConvertUsdc: way === 'usdc' } } })
    onClose()
    onDone()
  })
  const text = words.receive
  return (
    <FormDialog
      title={text.title}
      kind="primary"
      submit={text.save}
      cancel={text.later}
      of={save}
      onClose={onClose}
    >
      <RadioGroup
        name="receive"
        legend={text.title}
        choices={ways}
        texts={text.ways}
        chosen={way}
        onChoose={setWay}
      />
      <p class="quiet">{text.effects[way]}</p>
    </FormDialog>
  )
}
