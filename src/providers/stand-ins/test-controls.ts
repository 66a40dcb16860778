import { z } from 'zod'
import { ProviderError, undocumented } from '../../kernel/provider-error.js'
import { cleanLine } from '../../kernel/text.js'
import { requestAnyStatus } from '../../platform/http-client.js'
import type { TestControls } from '../../ports/test-controls.js'

const timeoutMs = 10_000
const maxBytes = 64 * 1024
const reasonLength = 200
const refusal = z.object({ message: z.string() })
const airdropAnswer = z.object({ signature: z.string() })

/** The controls of the stand-ins (scripts/sandbox), `POST /dev/...` at the host of the naira provider's. */
export function createTestControls(providerUrl: string): TestControls {
  async function control(path: string, body: object): Promise<unknown> {
    const url = new URL(path, providerUrl).href
    const answer = await requestAnyStatus(url, { method: 'POST', body, timeoutMs, maxBytes })
    if (answer.status === 200) return answer.body
    const reason = refusal.safeParse(answer.body).data?.message
    if (reason === undefined || answer.status >= 500)
      throw new ProviderError('unavailable', 'the stand-ins did not answer as documented', answer.status)
    throw new ProviderError('rejected', cleanLine(reason, reasonLength), answer.status)
  }
  return {
    async endPayment(reference, outcome, kobo) {
      const amount = kobo === undefined ? {} : { amountKobo: Number(kobo) }
      await control(`/dev/fiatpay/charges/${encodeURIComponent(reference)}`, { outcome, ...amount })
    },
    async endWithdrawal(reference, outcome) {
      await control(`/dev/fiatpay/transfers/${encodeURIComponent(reference)}`, { outcome })
    },
    async airdrop(wallet, token, amount) {
      const parsed = airdropAnswer.safeParse(await control('/dev/airdrop', { wallet, token, amount }))
      if (!parsed.success) throw undocumented('the stand-ins did not answer as documented', parsed.error)
      return parsed.data.signature
    },
  }
}
