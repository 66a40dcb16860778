import { useEffect, useState } from 'preact/hooks'
import { call, codeOf } from '../api.js'

/**
 * `idle`: the account is incomplete; `none`: there is no such account; `unknown`: the name could not be looked up;
 * `unverified`: only a creator with a confirmed e-mail address may look names up.
 */
export type FoundName =
  | { readonly state: 'idle' | 'loading' | 'none' | 'unknown' | 'unverified' }
  | { readonly state: 'found'; readonly name: string }

const resolved = new Map<string, FoundName>()

/** The holder of a bank account. Results are cached while the page is open, because the API's rate limit is low. */
export function useAccountName(bankCode: string, accountNumber: string): FoundName {
  const [found, setFound] = useState<FoundName>({ state: 'idle' })
  useEffect(() => {
    if (bankCode === '' || accountNumber.length !== 10) {
      setFound({ state: 'idle' })
      return
    }
    const key = `${bankCode} ${accountNumber}`
    const known = resolved.get(key)
    if (known !== undefined) {
      setFound(known)
      return
    }
    const stop = new AbortController()
    setFound({ state: 'loading' })
    void resolveName(bankCode, accountNumber, stop.signal).then((answer) => {
      if (answer.state === 'found' || answer.state === 'none') resolved.set(key, answer)
      if (!stop.signal.aborted) setFound(answer)
    })
    return () => stop.abort()
  }, [bankCode, accountNumber])
  return found
}

async function resolveName(bankCode: string, accountNumber: string, signal: AbortSignal): Promise<FoundName> {
  try {
    const { accountName } = await call<{ accountName: string }>('POST', '/creators/bank-accounts/resolve', {
      body: { bankCode, accountNumber },
      signal,
    })
    return { state: 'found', name: accountName }
  } catch (error) {
    const code = codeOf(error)
    if (code === 'email_not_verified') return { state: 'unverified' }
    return { state: code === 'bank_account_not_found' ? 'none' : 'unknown' }
  }
}
