import { useCallback, useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { isUnclear, typedTokenAmount } from '../../lib/amount-text.js'
import { shortAddress } from '../../lib/tip-text.js'
import { Form, RadioGroup } from '../../ui/fields.js'
import { Fact } from '../../ui/kit.js'
import type { Balance, PayoutWallet, Takeable, Transfer, TransferAnswer, TransfersPage } from '../answers.js'
import { call, codeOf } from '../api.js'
import { useShown } from '../connection.js'
import { Card } from '../parts/cards.js'
import { AmountField } from '../parts/fields.js'
import { Submit } from '../parts/forms.js'
import { ClaimsNotice, FaultNotice, StraightToWallet, Unread } from '../parts/notices.js'
import { MoreButton, OpenRow, Status } from '../parts/rows.js'
import { pathsAfter, useLoad, usePages, useSubmit } from '../requests.js'
import { go, useRoute } from '../route.js'
import { proofFaults } from '../security/owner-proof.js'
import { type ConfirmationProof, needsStepUp, StepUp } from '../security/step-up.js'
import { PayoutWalletCard } from '../settings/payout-wallet.js'
import { Progress } from './progress.js'
import { transfersPath } from './submission.js'
import { exactAmount, prepareFault } from './transfer.js'

/** Tokens leave the custody wallet for the creator's own wallet, which signs first. The take-outs are beside it. */
export function TakeOut() {
  const { query } = useRoute()
  const [version, setVersion] = useState(0)
  const changed = useCallback(() => setVersion((before) => before + 1), [])
  const id = query.get('transfer') ?? undefined
  const open = (transfer: Transfer): void => go('take-out', new URLSearchParams({ transfer: transfer.id }))
  const restart = (again?: Transfer): void => {
    changed()
    go('take-out', again && new URLSearchParams({ mint: again.mint, amount: again.amount }))
  }
  return (
    <div class="columns">
      {id === undefined ? (
        <NewTakeOut
          version={version}
          query={query}
          onPrepared={(transfer) => {
            changed()
            open(transfer)
          }}
          onFailed={changed}
        />
      ) : (
        <section class="card">
          <Progress key={id} id={id} onChange={changed} onRestart={restart} />
        </section>
      )}
      <div class="stack">
        <TransferList version={version} onOpen={open} />
      </div>
    </div>
  )
}

interface NewTakeOutProps {
  version: number
  query: URLSearchParams
  onPrepared: (transfer: Transfer) => void
  onFailed: () => void
}

function NewTakeOut({ version, query, onPrepared, onFailed }: NewTakeOutProps) {
  const wallet = useLoad<PayoutWallet>('/creators/payout-wallet')
  const tokens = useLoad<Takeable>('/creators/wallet/tokens', version)
  const balance = useLoad<Balance>('/creators/balance', version)
  const shown = useShown([wallet, tokens, balance].every(({ isOver }) => isOver))
  const owes = (balance.data?.balance.owedUSDC ?? 0) > 0
  if (!shown || wallet.data === undefined || tokens.data === undefined) {
    const reload = (): void => {
      wallet.reload()
      tokens.reload()
    }
    const fault = shown ? (wallet.fault ?? tokens.fault) : undefined
    return (
      <section class="card">
        <Unread of={{ fault, reload }} />
      </section>
    )
  }
  const { payoutWallet } = wallet.data
  if (payoutWallet === null)
    return (
      <div class="stack">
        <p>{words.takeOut.needsWallet}</p>
        <PayoutWalletCard onChanged={wallet.reload} />
      </div>
    )
  return (
    <section class="card">
      <h2>{words.takeOut.title}</h2>
      <ClaimsNotice of={balance} />
      {!owes && (
        <ChooseStep
          tokens={tokens.data.tokens}
          wallet={payoutWallet.wallet}
          wanted={{ mint: query.get('mint'), amount: query.get('amount') }}
          onPrepared={onPrepared}
          onFailed={onFailed}
        />
      )}
      {payoutWallet.takesTips && <StraightToWallet />}
    </section>
  )
}

/** The take-outs, newest first; each opens its progress. A new `version` reads them again. */
function TransferList({ version, onOpen }: { version: number; onOpen: (transfer: Transfer) => void }) {
  const list = usePages<TransfersPage>(pathsAfter(`${transfersPath}?limit=20`), version)
  const { data, fault, reload } = list
  if (data === undefined) return <FaultNotice fault={fault} tone="warn" onRetry={reload} />
  if (data.transfers.length === 0) return null
  return (
    <Card name="transfers" title={words.takeOut.list}>
      <ul class="rows">
        {list.pages
          .flatMap(({ transfers }) => transfers)
          .map((transfer) => (
            <OpenRow key={transfer.id} createdAt={transfer.createdAt} onOpen={() => onOpen(transfer)}>
              <span class="number strong">{exactAmount(transfer)}</span>
              <span class="quiet">{words.takeOut.toShort(shortAddress(transfer.wallet))}</span>
              <Status status={transfer.status} />
            </OpenRow>
          ))}
      </ul>
      <MoreButton of={list} />
    </Card>
  )
}

interface ChooseStepProps {
  tokens: Takeable['tokens']
  wallet: string
  wanted: { readonly mint: string | null; readonly amount: string | null }
  onPrepared: (transfer: Transfer) => void
  onFailed: () => void
}

/** Token and amount, then what proves the owner. Nothing is held or moved here. */
function ChooseStep({ tokens, wallet, wanted, onPrepared, onFailed }: ChooseStepProps) {
  const [mint, setMint] = useState(wanted.mint)
  const [amount, setAmount] = useState(wanted.amount ?? '')
  const [fault, setFault] = useState<string>()
  const [confirming, setConfirming] = useState(false)
  const token = tokens.find((one) => one.mint === mint) ?? tokens[0]
  const typed = typedTokenAmount(amount)
  const prepare = async (proof: ConfirmationProof): Promise<void> => {
    setFault(undefined)
    try {
      const body = { mint: token?.mint, amount: typed, ...proof }
      onPrepared((await call<TransferAnswer>('POST', transfersPath, { body })).transfer)
    } catch (error) {
      const code = codeOf(error)
      if (code !== 'step_up_required' && !proofFaults.includes(code)) {
        setFault(code === 'network' && 'code' in proof ? words.takeOut.lost : prepareFault(error))
        onFailed()
      }
      throw error
    }
  }
  const start = useSubmit(async () => setConfirming(await needsStepUp(prepare)))
  if (token === undefined)
    return (
      <div class="empty">
        <p>{words.takeOut.nothing}</p>
      </div>
    )
  const change = (text: string): void => {
    setAmount(text)
    setFault(undefined)
  }
  if (confirming)
    return (
      <StepUp request={prepare} faultText={fault} onCancel={() => setConfirming(false)}>
        {words.takeOut.confirm(exactAmount({ ...token, amount: typed === 'unclear' ? '0' : (typed ?? '0') }))}{' '}
        <code class="address">{wallet}</code>
      </StepUp>
    )
  return (
    <Form
      noValidate
      onSubmit={() => {
        if (typed === 'unclear') setFault(words.fault('unclear_number'))
        else if (typed === undefined) setFault(words.takeOut.noAmount)
        else start.run()
      }}
    >
      <RadioGroup
        name="token"
        legend={words.takeOut.token}
        choices={tokens.map((one) => one.mint)}
        texts={Object.fromEntries(tokens.map((one) => [one.mint, exactAmount(one)]))}
        chosen={token.mint}
        stacked
        onChoose={(chosen) => {
          setMint(chosen)
          change('')
        }}
      />
      <AmountField
        label={words.takeOut.amount(token.tokenSymbol)}
        fault={fault}
        value={amount}
        most={clearText(token.amount)}
        onInput={change}
      />
      <dl class="facts">
        <Fact name={words.takeOut.to}>
          <code class="address">{wallet}</code>
        </Fact>
      </dl>
      <p class="quiet">{words.takeOut.lead}</p>
      <Submit text={words.next} busy={start.busy} />
    </Form>
  )
}

/** `1.234` could mean two numbers; `1.2340` is the same and could not. */
function clearText(amount: string): string {
  return isUnclear(amount) ? `${amount}0` : amount
}
