import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../../i18n/dashboard.js'
import { Button } from '../../../ui/controls/button.js'
import { Field } from '../../../ui/controls/field.js'
import { Announcer } from '../../../ui/messages/announcer.js'
import type { Passkey, Security } from '../../answers.js'
import { call } from '../../api.js'
import { agoText, useNow } from '../../dates.js'
import { useDrawer } from '../../parts/drawer.js'
import { FaultNotice } from '../../parts/fault-notice.js'
import { useKeptFocus } from '../../parts/use-kept-focus.js'
import { useSession } from '../../session.js'
import { knowsPasskeys, makePasskey } from '../../sign-in/passkeys.js'
import type { Loaded } from '../../use-load.js'
import { useSubmit } from '../../use-submit.js'
import { useProtect } from '../reauthentication.js'
import { describeUserAgent } from '../user-agent.js'
import { FactorDialog } from './factor-dialog.js'
import { RecoveryCodesDialog } from './recovery-codes-dialog.js'

export interface Passkeys {
  readonly passkeys: readonly Passkey[]
}

/** The passkeys: add, name, list, remove. */
export function PasskeysCard({
  security,
  passkeys: { data, fault, reload },
}: {
  readonly security: Security
  readonly passkeys: Loaded<Passkeys>
}): JSX.Element {
  const { refresh } = useSession()
  const protect = useProtect()
  const drawer = useDrawer()
  const [label, setLabel] = useState(() => describeUserAgent(navigator.userAgent) ?? '')
  const [codes, setCodes] = useState<readonly string[]>()
  const [announcement, setAnnouncement] = useState('')
  const changed = (text: string): void => {
    setAnnouncement(text)
    reload()
    refresh()
  }
  const add = useSubmit(async () => {
    const { options } = await protect((body) =>
      call<{ options: PublicKeyCredentialCreationOptionsJSON }>('POST', '/auth/passkeys/options', { body }),
    )
    const body = { response: await makePasskey(options), label }
    const made = await call<{ recoveryCodes?: readonly string[] }>('POST', '/auth/passkeys', { body })
    setCodes(made.recoveryCodes)
    changed(words.passkeys.added)
  })
  const removing = data?.passkeys.find(({ id }) => drawer.open === `passkey-${id}`)
  const heading = useKeptFocus(announcement !== '', data, drawer.open)
  const failed = add.fault ?? (data === undefined ? fault : undefined)
  return (
    <section class="card" aria-labelledby="passkeys-title">
      <h2 id="passkeys-title" ref={heading} tabIndex={-1}>
        {words.passkeys.title}
      </h2>
      <p class="quiet">{words.passkeys.lead}</p>
      <Announcer text={announcement} />
      {knowsPasskeys() ? (
        <form
          class="inline"
          onSubmit={(event) => {
            event.preventDefault()
            add.run()
          }}
        >
          <Field label={words.passkeys.label} hint={words.passkeys.labelHint}>
            <input
              class="input"
              name="passkey-label"
              autocomplete="off"
              maxLength={100}
              value={label}
              onInput={({ currentTarget }) => setLabel(currentTarget.value)}
            />
          </Field>
          <Button kind="primary" type="submit" busy={add.busy}>
            {words.passkeys.add}
          </Button>
        </form>
      ) : (
        <p>{words.passkeys.unsupported}</p>
      )}
      <FaultNotice fault={failed} />
      {data?.passkeys.length === 0 && <p class="quiet">{words.passkeys.none}</p>}
      <PasskeyList passkeys={data?.passkeys ?? []} onRemove={({ id }) => drawer.show(`passkey-${id}`)} />
      {removing !== undefined && (
        <FactorDialog
          title={words.passkeys.question(removing.label)}
          effect={words.passkeys.effect}
          hint={words.factor.countsToRemove}
          submit={words.passkeys.removeSubmit}
          security={security}
          act={(body) => call('DELETE', `/auth/passkeys/${removing.id}`, { body })}
          onClose={drawer.close}
          onDone={() => {
            drawer.close()
            changed(words.passkeys.removed)
          }}
        />
      )}
      {codes !== undefined && <RecoveryCodesDialog codes={codes} onStored={() => setCodes(undefined)} />}
    </section>
  )
}

function PasskeyList({
  passkeys,
  onRemove,
}: {
  readonly passkeys: readonly Passkey[]
  readonly onRemove: (passkey: Passkey) => void
}): JSX.Element {
  const now = useNow()
  const text = words.passkeys
  return (
    <ul class="rows">
      {passkeys.map((passkey) => (
        <li key={passkey.id} class="rows__row key">
          <span class="key__what">
            <bdi class="key__label">{passkey.label}</bdi>
            <span class="quiet">
              {text.addedAgo(agoText(passkey.createdAt, now))} ·{' '}
              {passkey.lastUsedAt === null ? text.unused : text.used(agoText(passkey.lastUsedAt, now))}
            </span>
          </span>
          <button
            type="button"
            class="copy copy--bad"
            aria-label={text.removeWhat(passkey.label)}
            onClick={() => onRemove(passkey)}
          >
            {text.remove}
          </button>
        </li>
      ))}
    </ul>
  )
}
