import type { Knex } from 'knex'
import { findSubject } from './find-subject.js'
import { pageOf, type Story, type Subject, type WholeStory } from './story.js'
import { tellCreator } from './tell-creator.js'
import { tellIntent } from './tell-intent.js'
import { tellTip } from './tell-tip.js'
import { tellWithdrawal } from './tell-withdrawal.js'

type Tell = (db: Knex, id: string, before: Date) => Promise<WholeStory | undefined>

const tellers: Readonly<Record<Subject['kind'], Tell>> = {
  tip: tellTip,
  withdrawal: tellWithdrawal,
  intent: tellIntent,
  creator: tellCreator,
}

const everything = new Date('9999-12-31')
const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/

/** The time that begins the next page, as a story's `older` is written; undefined for any other text. */
export function parseBefore(text: string): Date | undefined {
  const time = timePattern.test(text) ? new Date(text) : undefined
  return time === undefined || Number.isNaN(time.getTime()) ? undefined : time
}

/**
 * The story of what a text names: an id, signature, reference, intent, wallet, request or e-mail. Of a long life the page before
 * this time. Undefined: nothing of ours.
 */
export async function trace(db: Knex, text: string, before = everything): Promise<Story | undefined> {
  const subject = await findSubject(db, text)
  const story = subject && (await tellers[subject.kind](db, subject.id, before))
  return story && pageOf(story, before)
}
