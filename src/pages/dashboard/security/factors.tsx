import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { saveFile } from '../../lib/browser.js'
import { Form, TextField } from '../../ui/fields.js'
import { Announcer, Button, CopyButton, Notice, Qr } from '../../ui/kit.js'
import type { Passkeys, Security } from '../answers.js'
import { call } from '../api.js'
import { agoText, useNow } from '../dates.js'
import { Card } from '../parts/cards.js'
import { CodeField, factorFault } from '../parts/fields.js'
import { useKeptFocus } from '../parts/focus.js'
import { FormDialog, OnceDialog, Submit } from '../parts/forms.js'
import { FaultNotice } from '../parts/notices.js'
import { OwnRow } from '../parts/rows.js'
import { type Loaded, useForm, useSubmit } from '../requests.js'
import { useDrawer } from '../route.js'
import { useSession } from '../session.js'
import { knowsPasskeys, makePasskey } from '../sign-in/passkeys.js'
import { FactorDialog } from './factor-dialog.js'
import { useProtect } from './reauthentication.js'
import { describeUserAgent } from './user-agent.js'

/** With the first second factor there are recovery codes. */
interface Made {
  readonly recoveryCodes?: readonly string[]
}

/** A secret for the app, in force once a first code of it was entered. */
interface NewSecret {
  readonly secret: string
  readonly uri: string
}

export function AuthenticatorCard({ security }: { readonly security: Security }) {
  const { refresh } = useSession()
  const protect = useProtect()
  const drawer = useDrawer()
  const [secret, setSecret] = useState<NewSecret>()
  const [codes, setCodes] = useState<readonly string[]>()
  const [announcement, setAnnouncement] = useState('')
  const begin = useSubmit(async () => {
    setSecret(await protect((proof) => call<NewSecret>('POST', '/auth/totp', { body: proof })))
    drawer.show('set-up-app')
  })
  const finish = (text: string): void => {
    setAnnouncement(text)
    refresh()
  }
  const state = (
    <span class={`status status--${security.totp ? 'good' : 'plain'}`}>
      {security.totp ? words.app.on : words.app.off}
    </span>
  )
  return (
    <Card name="app" title={words.app.title} beside={state} lead={words.app.lead}>
      <Announcer text={announcement} />
      <FaultNotice fault={begin.fault} />
      {security.totp ? (
        <Button text={words.app.remove} onPress={() => drawer.show('remove-app')} />
      ) : (
        <Button does={begin} text={words.app.setUp} />
      )}
      {drawer.open === 'set-up-app' && secret !== undefined && (
        <SetUpDialog
          secret={secret}
          onClose={drawer.close}
          onDone={({ recoveryCodes }) => {
            drawer.close()
            setSecret(undefined)
            setCodes(recoveryCodes)
            finish(words.app.done)
          }}
        />
      )}
      {drawer.open === 'remove-app' && security.totp && (
        <FactorDialog
          title={words.app.removeTitle}
          effect={words.app.removeEffect}
          hint={words.factor.countsToRemove}
          submit={words.app.remove}
          security={security}
          act={(proof) => call('DELETE', '/auth/totp', { body: proof })}
          onClose={drawer.close}
          onDone={() => finish(words.app.removed)}
        />
      )}
      <RecoveryCodesDialog codes={codes} onStored={() => setCodes(undefined)} />
    </Card>
  )
}

type SetUpDialogProps = { secret: NewSecret; onClose: () => void; onDone: (made: Made) => void }

function SetUpDialog({ secret: { secret, uri }, onClose, onDone }: SetUpDialogProps) {
  const confirm = useForm({ code: '' }, async (body) =>
    onDone(await call<Made>('POST', '/auth/totp/confirm', { body })),
  )
  return (
    <FormDialog
      title={words.app.setUpTitle}
      kind="primary"
      submit={words.app.confirm}
      of={confirm}
      onClose={onClose}
    >
      <p>{words.app.scan}</p>
      <Qr text={uri} label={words.app.qr} />
      <p class="quiet">{words.app.byHand}</p>
      {/* Groups of four are easier to type. Apps ignore the blanks. */}
      <code class="secret">{secret.replace(/(.{4})(?=.)/g, '$1 ')}</code>
      <CopyButton value={secret} label={words.app.key} />
      <CodeField
        label={words.app.code}
        focused={false}
        {...confirm.field('code', 'all', factorFault)}
        onComplete={confirm.run}
      />
    </FormDialog>
  )
}

type PasskeysCardProps = { security: Security; passkeys: Loaded<Passkeys> }

export function PasskeysCard({ security, passkeys: { data, unread, reload } }: PasskeysCardProps) {
  const { refresh } = useSession()
  const protect = useProtect()
  const drawer = useDrawer()
  const now = useNow()
  const [codes, setCodes] = useState<readonly string[]>()
  const [announcement, setAnnouncement] = useState('')
  const changed = (text: string): void => {
    setAnnouncement(text)
    reload()
    refresh()
  }
  const thisDevice = { label: describeUserAgent(navigator.userAgent) ?? '' }
  const add = useForm(thisDevice, async ({ label }) => {
    const { options } = await protect((body) =>
      call<{ options: PublicKeyCredentialCreationOptionsJSON }>('POST', '/auth/passkeys/options', { body }),
    )
    const body = { response: await makePasskey(options), label }
    setCodes((await call<Made>('POST', '/auth/passkeys', { body })).recoveryCodes)
    changed(words.passkeys.added)
  })
  const removing = data?.passkeys.find(({ id }) => drawer.open === `passkey-${id}`)
  const heading = useKeptFocus(announcement !== '', data, drawer.open)
  const text = words.passkeys
  return (
    <Card name="passkeys" title={text.title} heading={heading} lead={text.lead}>
      <Announcer text={announcement} />
      {knowsPasskeys() ? (
        <Form class="inline" onSubmit={add.run}>
          <TextField
            label={text.label}
            hint={text.labelHint}
            name="passkey-label"
            maxLength={100}
            {...add.field('label')}
          />
          <Submit text={text.add} busy={add.busy} />
        </Form>
      ) : (
        <p>{text.unsupported}</p>
      )}
      <FaultNotice fault={add.fault ?? unread} />
      {data?.passkeys.length === 0 && <p class="quiet">{text.none}</p>}
      <ul class="rows">
        {data?.passkeys.map((passkey) => (
          <OwnRow
            key={passkey.id}
            label={passkey.label}
            more={`${text.addedAgo(agoText(passkey.createdAt, now))} · ${
              passkey.lastUsedAt === null ? text.unused : text.used(agoText(passkey.lastUsedAt, now))
            }`}
            end={{
              text: text.remove,
              what: text.removeWhat(passkey.label),
              onPress: () => drawer.show(`passkey-${passkey.id}`),
            }}
          />
        ))}
      </ul>
      {removing !== undefined && (
        <FactorDialog
          title={text.question(removing.label)}
          effect={text.effect}
          hint={words.factor.countsToRemove}
          submit={text.removeSubmit}
          security={security}
          act={(body) => call('DELETE', `/auth/passkeys/${removing.id}`, { body })}
          onClose={drawer.close}
          onDone={() => changed(text.removed)}
        />
      )}
      <RecoveryCodesDialog codes={codes} onStored={() => setCodes(undefined)} />
    </Card>
  )
}

/** With so few codes left, new ones are due. */
const few = 3

export function RecoveryCard({ security }: { readonly security: Security }) {
  const { refresh } = useSession()
  const drawer = useDrawer()
  const [codes, setCodes] = useState<readonly string[]>()
  const left = words.recovery.left(security.recoveryCodesLeft)
  const text = words.recovery
  return (
    <Card name="recovery" title={text.title} lead={text.lead}>
      {security.recoveryCodesLeft <= few ? (
        <Notice tone="warn">
          {left}. {text.few}
        </Notice>
      ) : (
        <p>{left}</p>
      )}
      <Button text={text.make} onPress={() => drawer.show('new-codes')} />
      {drawer.open === 'new-codes' && (
        <FactorDialog
          title={text.makeTitle}
          effect={text.makeEffect}
          hint={words.factor.countsToRenew}
          submit={text.makeSubmit}
          security={security}
          act={async (body) =>
            setCodes((await call<Made>('POST', '/auth/recovery-codes', { body })).recoveryCodes)
          }
          onClose={drawer.close}
          onDone={refresh}
        />
      )}
      <RecoveryCodesDialog codes={codes} onStored={() => setCodes(undefined)} />
    </Card>
  )
}

type RecoveryCodesDialogProps = { codes: readonly string[] | undefined; onStored: () => void }

function RecoveryCodesDialog({ codes, onStored }: RecoveryCodesDialogProps) {
  const { me } = useSession()
  if (codes === undefined) return null
  const text = words.recovery
  const file = `${text.fileHead(location.host, me.email)}\n\n${codes.join('\n')}\n`
  return (
    <OnceDialog title={text.newTitle} text={text} onStored={onStored}>
      <ol class="secret recovery">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ol>
      <div class="row">
        <CopyButton value={codes.join('\n')} label={text.codes} named />
        <button type="button" class="copy" onClick={() => saveFile(text.fileName, file, 'text/plain')}>
          {text.download}
        </button>
      </div>
    </OnceDialog>
  )
}
