/** Version 1 of what the checkout's frame and the page around it say to each other. Unknown types and fields are ignored. */
export const source = 'tipping'
export const version = 1

export interface Message {
  readonly source: typeof source
  readonly v: typeof version
  readonly type: string
}

/** A wallet of the page, without its functions. */
export interface RelayedWallet {
  readonly name: string
  readonly icon: string
  readonly chains: readonly string[]
  readonly features: readonly string[]
}

/** What the frame asks the page's script over the port it handed it. */
export interface RelayRequest {
  readonly id: number
  readonly call: 'connect' | 'signTransaction' | 'signAndSendTransaction'
  readonly wallet: string
  readonly address?: string
  readonly transaction?: Uint8Array
  readonly chain?: string
}

export type RelayAnswer =
  | { readonly id: number; readonly ok: unknown }
  | {
      readonly id: number
      readonly error: { readonly code: unknown; readonly name: unknown; readonly message: string }
    }
  | { readonly type: 'wallets'; readonly wallets: readonly RelayedWallet[] }

/** The message, if this is one of ours. */
export function messageOf(data: unknown): (Message & Readonly<Record<string, unknown>>) | undefined {
  const message = data as Partial<Message> | null
  const ours = typeof message === 'object' && message?.source === source && message.v === version
  return ours && typeof message.type === 'string' ? (message as Message & Record<string, unknown>) : undefined
}
