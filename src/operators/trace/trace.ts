import type { Knex } from 'knex'
import { findSubject } from './find-subject.js'
import type { Story, Subject } from './story.js'
import { tellCreator } from './tell-creator.js'
import { tellIntent } from './tell-intent.js'
import { tellTip } from './tell-tip.js'
import { tellWithdrawal } from './tell-withdrawal.js'

const tellers: Readonly<Record<Subject['kind'], (db: Knex, id: string) => Promise<Story | undefined>>> = {
  tip: tellTip,
  withdrawal: tellWithdrawal,
  intent: tellIntent,
  creator: tellCreator,
}

/** The story of what a text names: an id, signature, reference, intent, wallet or e-mail. Undefined: nothing of ours. */
export async function trace(db: Knex, text: string): Promise<Story | undefined> {
  const subject = await findSubject(db, text)
  return subject && tellers[subject.kind](db, subject.id)
}
