/** A mail as it arrived. */
export interface ReceivedMail {
  readonly to: string
  readonly from: string
  readonly subject: string
  readonly text: string
  readonly html: string
  /** ISO 8601. */
  readonly at: string
  readonly messageId: string
}
