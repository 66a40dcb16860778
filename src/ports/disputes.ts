/**
 * State of a dispute. `open`: it waits for our answer until `dueAt`; `answered`: we declined it, and the bank decides; `won`: we
 * keep the money; `lost`: accepted by us, or by the provider because nobody answered in time; `unclear`: a state that the provider
 * does not document, which says nothing about the money.
 */
export type DisputeState = 'open' | 'answered' | 'won' | 'lost' | 'unclear'

/** The provider's record of a payer's complaint at their bank. */
export interface Dispute {
  /** The provider's id of the dispute. */
  readonly id: string
  /** The provider's id of the payment. */
  readonly transaction: string
  /** Our reference of the charge. */
  readonly reference: string
  /** What the payer wants back, at most the payment. When `lost`: what the provider has taken. */
  readonly kobo: bigint
  readonly state: DisputeState
  /** Whether it was lost because nobody answered. */
  readonly autoAccepted: boolean
  /** The provider's word for the kind of complaint, such as `chargeback`. */
  readonly category: string | null
  readonly createdAt: Date
  /** Until when we can answer. Null when the provider does not say. */
  readonly dueAt: Date | null
  readonly resolvedAt: Date | null
}

/** What we know of the payer and of what they bought. The provider requires all of it. */
export interface DisputeEvidence {
  readonly email: string
  readonly name: string
  readonly phone: string
  /** What the payer got for the money. */
  readonly service: string
}

/** A document that supports an answer. */
export interface DisputeFile {
  /** With its ending, such as `evidence.pdf`. */
  readonly name: string
  /** Its media type. */
  readonly type: string
  readonly bytes: Uint8Array
}

export interface DisputeAnswer {
  /** `accept`: the money goes back to the payer. `decline`: the bank decides. */
  readonly answer: 'accept' | 'decline'
  /** For the bank. */
  readonly message: string
  /** What goes back, at most what the payer wants. 0 when declined. */
  readonly kobo: bigint
  /** The provider requires one for both answers. */
  readonly file: DisputeFile
  /** The id that `addEvidence` returned, for a claim of fraud. */
  readonly evidence?: string
}

/**
 * The disputes about collected naira. Every method throws ProviderError: `rejected` when the provider refuses the request, with its
 * own text as the message; `unavailable` when it surely did nothing; `ambiguous` when it may have acted or the answer cannot be
 * understood. After an ambiguous answer, `find` shows what happened.
 */
export interface Disputes {
  /**
   * All disputes filed between two times, newest first, page by page. What cannot be read is left out, and an
   * error ends the list.
   */
  list(from: Date, to: Date): AsyncIterable<readonly Dispute[]>
  /** Undefined when the provider has no such dispute. */
  find(id: string): Promise<Dispute | undefined>
  /** Stores evidence at the provider. Returns its id. Does not answer the dispute. */
  addEvidence(id: string, evidence: DisputeEvidence): Promise<string>
  /**
   * Stores the file at the provider, then answers an open dispute. Returns its new state. The provider refuses a second answer.
   */
  answer(id: string, answer: DisputeAnswer): Promise<Dispute>
}
