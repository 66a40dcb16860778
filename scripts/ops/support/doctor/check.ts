import { ConfigError } from '../../../../src/platform/config/read-settings.js'

/** `warning`: works, and is not as it should be in production. `skipped`: could not be checked from here. */
type CheckState = 'ok' | 'warning' | 'wrong' | 'skipped'

export interface Check {
  readonly name: string
  readonly state: CheckState
  readonly text: string
}

export type Finding = readonly [state: CheckState, text: string]

/** Runs one check. An error is its finding: what a process would meet as well. */
export async function check(
  name: string,
  find: () => Promise<Finding | readonly Finding[]>,
): Promise<readonly Check[]> {
  try {
    const found = await find()
    const findings = typeof found[0] === 'string' ? [found as Finding] : (found as readonly Finding[])
    return findings.map(([state, text]) => ({ name, state, text }))
  } catch (error) {
    return [{ name, state: 'wrong', text: reasonOf(error) }]
  }
}

/** Those that apply, or that everything is as it should be. */
export function findingsOr(
  ok: string,
  ...findings: readonly (Finding | false | undefined)[]
): readonly Finding[] {
  const found = findings.filter((one) => one !== false && one !== undefined)
  return found.length > 0 ? found : [['ok', ok]]
}

export const isSet = (name: string): boolean => Boolean(process.env[name]?.trim())

/** Only the text of an error: some keep passwords in their fields. */
export function reasonOf(error: unknown): string {
  if (error instanceof ConfigError)
    return error.faults.map(({ setting, message }) => `${setting} ${message}`).join('; ')
  if (!(error instanceof Error)) return String(error)
  // Several addresses of one host were tried.
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ')
  const cause = error.cause instanceof Error ? ` (${reasonOf(error.cause)})` : ''
  return `${error.message.replace(/\s+/g, ' ')}${cause}`
}

/** Host and port of a URL: the rest may contain a key. */
export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host || 'this machine' : 'this machine'
}

/** Whether the packets of a connection never leave the machine. */
export function isLocal(url: string): boolean {
  if (!URL.canParse(url)) return true
  const { hostname, searchParams } = new URL(url)
  return /^(localhost|127\..*|\[::1\]|)$/.test(hostname) || searchParams.get('host')?.startsWith('/') === true
}
