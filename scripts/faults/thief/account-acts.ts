import { type Act, listOf, removeAll, signedIn } from './scene.js'

// Acts of whoever has a session: factors, sessions, API keys.

export const addTotp: Act = signedIn(async (_, who) => {
  const started = await who.call('POST', '/auth/totp', who.factor())
  if (started.status !== 200) return started
  const earlier = who.totp
  who.totp = { secret: String(started.body['secret']), usedStep: 0 }
  const answer = await who.call('POST', '/auth/totp/confirm', { code: who.factor().totp })
  if (answer.status !== 200) who.totp = earlier
  who.keepRecoveryCodes(answer)
  return answer
})

export const removeTotp: Act = signedIn(async (_, who) => {
  const answer = await who.call('DELETE', '/auth/totp', who.factor())
  if (answer.status === 200) who.forgetFactors()
  return answer
})

export const renewRecoveryCodes: Act = signedIn(async (_, who) => {
  if (who.totp === undefined) return undefined
  const answer = await who.call('POST', '/auth/recovery-codes', who.factor())
  who.keepRecoveryCodes(answer)
  return answer
})

export const endOneSession: Act = signedIn(async (_, who, draw) => {
  const sessions = await listOf<{ id: string; current: boolean }>(who, '/auth/sessions', 'sessions')
  if (typeof sessions === 'string') return sessions
  const other = draw.one(sessions.filter(({ current }) => !current))
  return other === undefined ? undefined : who.call('DELETE', `/auth/sessions/${other.id}`)
})

export const endOtherSessions: Act = signedIn((_, who) => who.call('DELETE', '/auth/sessions'))

export const makeApiKey: Act = signedIn(async (_, who) =>
  who.call('POST', '/creators/api-keys', { label: who.name }),
)

export const revokeApiKeys: Act = removeAll('/creators/api-keys', 'apiKeys')
