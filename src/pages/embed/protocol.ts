/** Version 1 of the messages between the checkout's frame and the embedding page. Unknown types and fields are ignored. */
export const source = 'tipping'
export const version = 1

export interface Message {
  readonly source: typeof source
  readonly v: typeof version
  readonly type: string
}

/** A wallet of the embedding page, without its functions. */
export interface RelayedWallet {
  readonly name: string
  readonly icon: string
  readonly chains: readonly string[]
  readonly features: readonly string[]
}

/** A request from the frame to embed.js, over the port that the frame sent. */
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

/** Returns the data as a message of this protocol, or undefined. */
export function messageOf(data: unknown): (Message & Readonly<Record<string, unknown>>) | undefined {
  const message = data as Partial<Message> | null
  const ours = typeof message === 'object' && message?.source === source && message.v === version
  return ours && typeof message.type === 'string' ? (message as Message & Record<string, unknown>) : undefined
}
