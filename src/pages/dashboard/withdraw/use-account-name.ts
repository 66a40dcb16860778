import { useEffect, useState } from 'preact/hooks'
import { call, codeOf } from '../api.js'

/** `idle`: not asked; `none`: there is no such account; `unknown`: the bank could not be asked. */
export type FoundName =
  | { readonly state: 'idle' | 'asking' | 'none' | 'unknown' }
  | { readonly state: 'found'; readonly name: string }

const answers = new Map<string, FoundName>()

/** Whose account it is. Each account is asked for once while the page lives: the service allows few such questions. */
export function useAccountName(bankCode: string, accountNumber: string): FoundName {
  const [found, setFound] = useState<FoundName>({ state: 'idle' })
  useEffect(() => {
    if (bankCode === '' || accountNumber.length !== 10) {
      setFound({ state: 'idle' })
      return
    }
    const key = `${bankCode} ${accountNumber}`
    const known = answers.get(key)
    if (known !== undefined) {
      setFound(known)
      return
    }
    const stop = new AbortController()
    setFound({ state: 'asking' })
    void askName(bankCode, accountNumber, stop.signal).then((answer) => {
      if (answer.state !== 'unknown') answers.set(key, answer)
      if (!stop.signal.aborted) setFound(answer)
    })
    return () => stop.abort()
  }, [bankCode, accountNumber])
  return found
}

async function askName(bankCode: string, accountNumber: string, signal: AbortSignal): Promise<FoundName> {
  try {
    const { accountName } = await call<{ accountName: string }>('POST', '/creators/bank-accounts/resolve', {
      body: { bankCode, accountNumber },
      signal,
    })
    return { state: 'found', name: accountName }
  } catch (error) {
    return { state: codeOf(error) === 'bank_account_not_found' ? 'none' : 'unknown' }
  }
}
