import { type Act, done, outcomeOf } from './scene.js'

// Acts of whoever has a session: factors, sessions, API keys.

export const addTotp: Act = async (_, who) => {
  if (who.session === undefined) return undefined
  const started = await who.call('POST', '/auth/totp', who.factor())
  if (started.status !== 200) return outcomeOf(started)
  const earlier = who.totp
  who.totp = { secret: String(started.body['secret']), usedStep: 0 }
  const answer = await who.call('POST', '/auth/totp/confirm', { code: who.factor().totp })
  if (answer.status !== 200) who.totp = earlier
  const codes = answer.body['recoveryCodes']
  if (Array.isArray(codes)) who.recoveryCodes = codes.map(String)
  return outcomeOf(answer)
}

export const removeTotp: Act = async (_, who) => {
  if (who.session === undefined) return undefined
  const answer = await who.call('DELETE', '/auth/totp', who.factor())
  if (answer.status === 200) who.forgetFactors()
  return outcomeOf(answer)
}

export const renewRecoveryCodes: Act = async (_, who) => {
  if (who.session === undefined || who.totp === undefined) return undefined
  const answer = await who.call('POST', '/auth/recovery-codes', who.factor())
  const codes = answer.body['recoveryCodes']
  if (Array.isArray(codes)) who.recoveryCodes = codes.map(String)
  return outcomeOf(answer)
}

export const endOneSession: Act = async (_, who, draw) => {
  if (who.session === undefined) return undefined
  const { status, body } = await who.call('GET', '/auth/sessions')
  if (status !== 200) return outcomeOf({ status, body })
  const sessions = body['sessions'] as readonly { readonly id: string; readonly current: boolean }[]
  const other = draw.one(sessions.filter(({ current }) => !current))
  return other === undefined ? undefined : outcomeOf(await who.call('DELETE', `/auth/sessions/${other.id}`))
}

export const endOtherSessions: Act = async (_, who) => {
  if (who.session === undefined) return undefined
  return outcomeOf(await who.call('DELETE', '/auth/sessions'))
}

export const makeApiKey: Act = async (_, who) => {
  if (who.session === undefined) return undefined
  const answer = await who.call('POST', '/creators/api-keys', { label: who.name })
  if (answer.status === 200) who.apiKeys.push(String(answer.body['apiKey']))
  return outcomeOf(answer)
}

export const revokeApiKeys: Act = async (_, who) => {
  if (who.session === undefined) return undefined
  const { status, body } = await who.call('GET', '/creators/api-keys')
  if (status !== 200) return outcomeOf({ status, body })
  for (const { id } of body['apiKeys'] as readonly { readonly id: string | number }[]) {
    const answer = await who.call('DELETE', `/creators/api-keys/${id}`)
    if (answer.status !== 200) return outcomeOf(answer)
  }
  return done
}
