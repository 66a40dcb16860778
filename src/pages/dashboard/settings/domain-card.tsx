import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Button } from '../../ui/controls/button.js'
import { Field } from '../../ui/controls/field.js'
import type { Profile } from '../answers.js'
import { call, codeOf } from '../api.js'
import { SignatureField } from '../parts/fields/signature-field.js'
import { useSubmit } from '../use-submit.js'

/** Links a `.sol` domain: directly when it resolves to the creator's wallet, otherwise with a signature of its owner. */
export function DomainCard({
  profile,
  onSaved,
}: {
  readonly profile: Profile
  readonly onSaved: (profile: Profile) => void
}): JSX.Element {
  const [domain, setDomain] = useState('')
  const [message, setMessage] = useState<string>()
  const [signature, setSignature] = useState('')
  const patch = async (body: object): Promise<void> => {
    const { creator } = await call<{ creator: Profile }>('PATCH', '/creators/me', { body })
    onSaved(creator)
    setMessage(undefined)
    setSignature('')
    setDomain('')
  }
  const link = useSubmit(async () => {
    try {
      await patch({ solDomain: domain, ...(signature !== '' && { signature: signature.trim() }) })
    } catch (error) {
      if (codeOf(error) !== 'domain_not_yours' || signature !== '') throw error
      const body = { solDomain: domain }
      setMessage((await call<{ message: string }>('POST', '/creators/domain-challenge', { body })).message)
    }
  })
  const unlink = useSubmit(() => patch({ solDomain: null }))
  const fault = link.fault ?? unlink.fault
  return (
    <section class="card stack" aria-labelledby="sol-title">
      <h2 id="sol-title">{words.sol.title}</h2>
      {profile.solDomain === null ? (
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault()
            link.run()
          }}
        >
          <Field label={words.sol.domain} hint={words.sol.hint} fault={fault && words.fault(fault)}>
            <input
              class="input"
              required
              placeholder="ada.sol"
              autocomplete="off"
              spellcheck={false}
              value={domain}
              onInput={({ currentTarget }) => {
                setDomain(currentTarget.value)
                setMessage(undefined)
              }}
            />
          </Field>
          {message !== undefined && (
            <SignatureField
              advice={words.sol.sign}
              message={message}
              signature={signature}
              onSignature={setSignature}
            />
          )}
          <Button type="submit" busy={link.busy}>
            {words.sol.link}
          </Button>
        </form>
      ) : (
        <>
          <p>
            <bdi>{profile.solDomain}</bdi>
          </p>
          {fault !== undefined && <p role="alert">{words.fault(fault)}</p>}
          <Button busy={unlink.busy} onPress={unlink.run}>
            {words.sol.unlink}
          </Button>
        </>
      )}
    </section>
  )
}
