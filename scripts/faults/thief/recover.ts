import type { Draw } from '../../kit/draw.js'
import type { Reader } from './owner.js'
import type { Answer } from './person.js'
import type { Scene } from './scene.js'
import { newPassword } from './sign-in.js'

/** After this time the locks of wrong codes have ended. */
const lockHours = 0.5

export type Tell = (text: string) => void

/**
 * The owner takes the account back: by the mailbox, and by an operator where it is frozen or has a factor that is not theirs.
 * Returns what is wrong when that fails.
 */
export async function recover(
  scene: Scene,
  reader: Reader,
  draw: Draw,
  tell: Tell,
): Promise<string | undefined> {
  const { owner, stage, userId } = scene
  await stage.age(userId, lockHours)
  owner.forgetUsedCodes()
  for (const { kind, reaction } of await reader.read(scene, draw))
    tell(`owner reacts to ${kind}: ${reaction}`)
  const reset = await resetByMailbox(scene)
  tell(`owner resets the password: ${reset}`)
  if (reset !== 'done') return `the owner cannot reset the password by mail: ${reset}`
  let answer = await enter(scene)
  tell(`owner logs in: ${answer.status} ${String(answer.body['code'] ?? '')}`)
  // A factor that the owner does not have, or a code of one that is not in force any more.
  if (['second_factor_required', 'invalid_code'].includes(String(answer.body['code']))) {
    await command(scene, 'remove-factors')
    owner.forgetFactors()
    answer = await enter(scene)
    tell(
      `owner logs in after an operator removed the factors: ${answer.status} ${String(answer.body['code'] ?? '')}`,
    )
  }
  if (answer.status !== 200) return `the owner cannot log in: ${answer.status} ${JSON.stringify(answer.body)}`
  const security = await owner.call('GET', '/auth/security')
  if (security.status !== 200) return `GET /auth/security answered ${security.status}`
  if (security.body['frozenAt'] !== null) {
    await command(scene, 'unfreeze')
    await stage.age(userId, lockHours)
    owner.forgetUsedCodes()
    const again = await resetByMailbox(scene)
    if (again !== 'done') return `the owner cannot set a password after the unfreezing: ${again}`
    answer = await enter(scene)
    tell(`owner logs in after an operator unfroze the account: ${answer.status}`)
    if (answer.status !== 200) return `the owner cannot log in after the unfreezing: ${answer.status}`
  }
  const ended = await owner.call('DELETE', '/auth/sessions')
  if (ended.status !== 200)
    return `the owner cannot end the other sessions: ${ended.status} ${JSON.stringify(ended.body)}`
  return thiefIsOut(scene)
}

/** An operator does something to the account. */
export function command({ stage, userId }: Scene, name: string): Promise<void> {
  const sure = name === 'unfreeze' ? ['--send-waiting', '--void-password'] : []
  return stage.command(name, ['--user', userId, '--reason', 'The owner has called', '--apply', ...sure])
}

/** The account has one of the owner's addresses now. Nobody is told which, so each is asked for. */
async function resetByMailbox({ owner }: Scene): Promise<string> {
  for (const email of owner.mailboxes) await owner.call('POST', '/auth/password/reset', { email })
  const link = await owner.findLink('reset-password')
  if (link === undefined) return 'no mail'
  owner.usedLinks.add(link.token)
  const password = newPassword()
  const answer = await owner.call('POST', '/auth/password/reset/confirm', {
    token: link.token,
    newPassword: password,
  })
  if (answer.status !== 200) return `${answer.status} ${String(answer.body['code'])}`
  owner.password = password
  owner.email = link.to
  return 'done'
}

function enter({ owner }: Scene): Promise<Answer> {
  const { email, password } = owner
  return owner.call('POST', '/auth/login', { email, password, ...owner.factor() })
}

/** Nothing that the thief has opens the account any more. */
async function thiefIsOut({ owner, thief }: Scene): Promise<string | undefined> {
  for (const session of thief.sessions)
    if (!owner.sessions.has(session) && (await thief.opens(session)))
      return 'a session of the thief still opens the account'
  for (const email of [...owner.mailboxes, ...thief.mailboxes]) {
    const { status } = await thief.call('POST', '/auth/login', {
      email,
      password: thief.password,
      ...thief.factor(),
    })
    if (status === 200) return 'the password of the thief still opens the account'
  }
  return undefined
}
