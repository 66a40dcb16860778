import { waitUntil } from '../../dev/wait-until.js'
import { requestUntilAnswered } from '../client.js'
import type { Taker } from '../sweeps/take-outs.js'
import type { Run } from './scenario.js'

const mailMs = 120_000

/** Signs a creator in with a mailed code. Throws when the code is not taken. */
export async function signInByCode({ stage }: Run, { email }: Taker): Promise<void> {
  const { url, takeOuts } = stage
  const readCode = async (): Promise<string | undefined> => {
    for (const text of await takeOuts.readMails(email)) {
      const code = /^ {4}([0-9]{6})$/m.exec(text)?.[1]
      if (code !== undefined) return code
    }
    return undefined
  }
  const before = await readCode()
  await requestUntilAnswered(url, ['POST', '/auth/otp/start', { email }])
  let code: string | undefined
  const hasCome = async (): Promise<boolean> => {
    code = await readCode()
    return code !== before
  }
  if (!(await waitUntil(hasCome, mailMs))) throw new Error(`no code came to ${email}; logs: ${stage.logs}`)
  const { status, body } = await requestUntilAnswered(url, ['POST', '/auth/otp/verify', { email, code }])
  if (status !== 200) throw new Error(`a fresh code was answered ${status} ${String(body['code'])}`)
}
