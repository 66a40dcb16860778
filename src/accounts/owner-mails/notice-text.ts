import type { EmailFact } from '../../mail/layout.js'

export interface NoticeText {
  readonly subject: string
  /** What happened. */
  readonly lines: readonly string[]
  readonly facts?: readonly EmailFact[]
  /** What to do. */
  readonly advice: readonly string[]
  /** A thief could have done it: the mail has the link that freezes the account. */
  readonly security: boolean
}

export const nothingToDo = 'If this was you, you need not do anything.'

/** What moved or may move money. Its words are in the feature that sends it, and it is mailed in any number. */
export interface MoneyNotice {
  /** Also the kind of the e-mail's row. */
  readonly kind: string
  readonly describe: (site: string) => NoticeText
}
