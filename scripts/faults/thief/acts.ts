import type { Draw } from '../acts/draw.js'
import {
  addTotp,
  endOneSession,
  endOtherSessions,
  makeApiKey,
  removeTotp,
  renewRecoveryCodes,
  revokeApiKeys,
} from './account-acts.js'
import { cancel, confirm, removePayees, resendCode, withdrawToOwn, withdrawToOwner } from './money-acts.js'
import type { Person } from './person.js'
import type { Act } from './scene.js'
import {
  changeEmail,
  changePassword,
  confirmEmail,
  freezeByGuess,
  logInByCode,
  login,
  logout,
  notMe,
  resetPassword,
  undoEmail,
  useResetLink,
} from './sign-in.js'

const acts = {
  login,
  logInByCode,
  logout,
  changePassword,
  resetPassword,
  useResetLink,
  changeEmail,
  confirmEmail,
  undoEmail,
  notMe,
  freezeByGuess,
  addTotp,
  removeTotp,
  renewRecoveryCodes,
  endOneSession,
  endOtherSessions,
  makeApiKey,
  revokeApiKeys,
  withdrawToOwn,
  withdrawToOwner,
  confirm,
  resendCode,
  cancel,
  removePayees,
} as const satisfies Readonly<Record<string, Act>>

type ActName = keyof typeof acts
/** How often each act is chosen. */
type Weights = { readonly [name in ActName]?: number }

export interface NamedAct {
  readonly name: ActName
  readonly act: Act
}

const signInActs: Weights = { login: 3, logInByCode: 1 }

const ownerActs: Weights = {
  login: 6,
  logInByCode: 4,
  logout: 1,
  changePassword: 2,
  resetPassword: 2,
  changeEmail: 2,
  confirmEmail: 3,
  undoEmail: 0.5,
  notMe: 0.3,
  addTotp: 2,
  removeTotp: 1,
  renewRecoveryCodes: 0.5,
  endOneSession: 1,
  endOtherSessions: 1.5,
  makeApiKey: 1,
  revokeApiKeys: 0.5,
  withdrawToOwn: 6,
  confirm: 5,
  resendCode: 1,
  cancel: 1.5,
  removePayees: 0.7,
}

const thiefActs: Weights = {
  login: 5,
  logInByCode: 2,
  changePassword: 2,
  resetPassword: 2,
  useResetLink: 1,
  changeEmail: 5,
  confirmEmail: 6,
  undoEmail: 2,
  notMe: 0.3,
  freezeByGuess: 0.3,
  addTotp: 4,
  removeTotp: 1,
  renewRecoveryCodes: 1,
  endOneSession: 1,
  endOtherSessions: 1.5,
  makeApiKey: 1,
  withdrawToOwn: 8,
  withdrawToOwner: 1,
  confirm: 8,
  resendCode: 1,
  cancel: 1,
  removePayees: 0.7,
}

/** Who is signed out mostly signs in. */
export function chooseAct(who: Person, draw: Draw): NamedAct {
  const weights = who.name === 'owner' ? ownerActs : thiefActs
  const signsIn = who.session === undefined && draw.happens(0.6)
  const name = draw.kind((signsIn ? signInActs : weights) as Readonly<Record<ActName, number>>)
  return { name, act: acts[name] }
}
