import type { Draw } from '../../kit/draw.js'
import * as account from './account-acts.js'
import * as money from './money-acts.js'
import type { Person } from './person.js'
import type { Act } from './scene.js'
import * as entry from './sign-in.js'

/** Each act, and how often the owner and the thief choose it. */
const acts = {
  login: [entry.login, 6, 5],
  logInByCode: [entry.logInByCode, 4, 2],
  logout: [entry.logout, 1, 0],
  changePassword: [entry.changePassword, 2, 2],
  resetPassword: [entry.resetPassword, 2, 2],
  useResetLink: [entry.useResetLink, 0, 1],
  changeEmail: [entry.changeEmail, 2, 5],
  confirmEmail: [entry.confirmEmail, 3, 6],
  undoEmail: [entry.undoEmail, 0.5, 2],
  notMe: [entry.notMe, 0.3, 0.3],
  freezeByGuess: [entry.freezeByGuess, 0, 0.3],
  addTotp: [account.addTotp, 2, 4],
  removeTotp: [account.removeTotp, 1, 1],
  renewRecoveryCodes: [account.renewRecoveryCodes, 0.5, 1],
  endOneSession: [account.endOneSession, 1, 1],
  endOtherSessions: [account.endOtherSessions, 1.5, 1.5],
  makeApiKey: [account.makeApiKey, 1, 1],
  revokeApiKeys: [account.revokeApiKeys, 0.5, 0],
  withdrawToOwn: [money.withdrawToOwn, 6, 8],
  withdrawToOwner: [money.withdrawToOwner, 0, 1],
  confirm: [money.confirm, 5, 8],
  resendCode: [money.resendCode, 1, 1],
  cancel: [money.cancel, 1.5, 1],
  removePayees: [money.removePayees, 0.7, 0.7],
} as const satisfies Readonly<Record<string, readonly [Act, owner: number, thief: number]>>

type ActName = keyof typeof acts
type Weights = Readonly<Record<ActName, number>>

export interface NamedAct {
  readonly name: ActName
  readonly act: Act
}

const weightsAt = (place: 1 | 2): Weights =>
  Object.fromEntries(Object.entries(acts).map(([name, one]) => [name, one[place]])) as Weights
const weights = { owner: weightsAt(1), thief: weightsAt(2) }
const signInActs = { login: 3, logInByCode: 1 } as Weights

/** Who is signed out mostly signs in. */
export function chooseAct(who: Person, draw: Draw): NamedAct {
  const signsIn = who.session === undefined && draw.happens(0.6)
  const name = draw.kind(signsIn ? signInActs : weights[who.name])
  return { name, act: acts[name][0] }
}
