import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { explorerUrl } from '../../lib/solana.js'
import { Button, LinkButton } from '../../ui/controls/button.js'
import { CopyButton } from '../../ui/controls/copy-button.js'
import type { IconName } from '../../ui/icon.js'
import { Announcer } from '../../ui/messages/announcer.js'
import { Notice } from '../../ui/messages/notice.js'
import { FaultNotice } from '../parts/fault-notice.js'
import { useLoad } from '../use-load.js'
import { usePolling } from '../use-polling.js'
import { SignStep } from './sign-step.js'
import { transfersPath } from './sign-transfer.js'
import { exactAmount, isOver, type Stage, stageOf, type Transfer } from './transfer.js'
import { rpcUrl, useSubmission } from './use-submission.js'

const pollEveryMs = 2000

const looks: Readonly<
  Record<Exclude<Stage, 'sign'>, { tone: 'plain' | 'good' | 'warn' | 'bad'; icon: IconName }>
> = {
  unsigned: { tone: 'plain', icon: 'wait' },
  sending: { tone: 'plain', icon: 'wait' },
  landed: { tone: 'good', icon: 'tick' },
  late: { tone: 'warn', icon: 'wait' },
  final: { tone: 'good', icon: 'tick' },
  failed: { tone: 'bad', icon: 'cross' },
  returned: { tone: 'plain', icon: 'cross' },
}

/** One take-out: it is signed here, submitted from here, and followed until it is over. A reload or another tab goes on with it. */
export function Progress({
  id,
  onChange,
  onRestart,
}: {
  readonly id: string
  /** Its status has changed. */
  readonly onChange: () => void
  readonly onRestart: Restart
}): JSX.Element {
  const { data, fault, reload } = useLoad<{ transfer: Transfer }>(
    `${transfersPath}/${encodeURIComponent(id)}`,
  )
  const transfer = data?.transfer
  usePolling(reload, pollEveryMs, transfer !== undefined && !isOver(transfer))
  const before = useRef<string>(undefined)
  const status = transfer?.status
  useEffect(() => {
    if (before.current !== undefined && before.current !== status) onChange()
    before.current = status
  }, [status, onChange])
  if (transfer !== undefined) return <Followed transfer={transfer} onChanged={reload} onRestart={onRestart} />
  if (fault === undefined) return <p class="quiet">{words.loading}</p>
  return (
    <>
      <FaultNotice fault={fault} tone="warn" onRetry={reload} />
      <Button onPress={() => onRestart()}>{words.takeOut.another}</Button>
    </>
  )
}

/** With the take-out that is to be prepared again, if any. */
type Restart = (again?: Transfer) => void

function Followed({
  transfer,
  onChanged,
  onRestart,
}: {
  readonly transfer: Transfer
  readonly onChanged: () => void
  readonly onRestart: Restart
}): JSX.Element {
  const seen = useSubmission(transfer)
  const now = useSeconds(!isOver(transfer))
  const stage = stageOf(transfer, seen, now)
  const title = words.takeOut.heads[stage](exactAmount(transfer))
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    heading.current?.focus()
    // Each new stage focuses its heading.
  }, [stage])
  return (
    <>
      <Announcer text={title} />
      <h2 ref={heading} tabIndex={-1}>
        {title}
      </h2>
      {stage === 'sign' ? (
        <SignStep
          transfer={transfer}
          secondsLeft={Math.ceil((Date.parse(transfer.expiresAt) - now) / 1000)}
          onChanged={onChanged}
        />
      ) : (
        <Notice {...looks[stage]}>{words.takeOut.more[stage]}</Notice>
      )}
      {transfer.status === 'signed' && rpcUrl() === undefined && <ToSubmit transfer={transfer} />}
      {transfer.signature !== null && <Signature signature={transfer.signature} />}
      <Next stage={stage} transfer={transfer} onRestart={onRestart} />
    </>
  )
}

/** Where to go from here. */
function Next({
  stage,
  transfer,
  onRestart,
}: {
  readonly stage: Stage
  readonly transfer: Transfer
  readonly onRestart: Restart
}): JSX.Element {
  if (stage === 'sign')
    return (
      <Button kind="quiet" onPress={() => onRestart()}>
        {words.cancel}
      </Button>
    )
  return (
    <>
      {stage === 'unsigned' && (
        <Button kind="primary" onPress={() => onRestart(transfer)}>
          {words.takeOut.again}
        </Button>
      )}
      <Button onPress={() => onRestart()}>{words.takeOut.another}</Button>
    </>
  )
}

function Signature({ signature }: { readonly signature: string }): JSX.Element {
  return (
    <>
      <CopyButton value={signature} label={words.tip.signature} named />
      <LinkButton href={explorerUrl(signature)} newTab>
        {words.tip.explorer}
      </LinkButton>
    </>
  )
}

/** Without an endpoint this page can submit nothing. */
function ToSubmit({ transfer: { transaction } }: { readonly transfer: Transfer }): JSX.Element {
  return (
    <Notice tone="warn" icon="warn" urgent>
      <p>{words.takeOut.noEndpoint}</p>
      <CopyButton value={transaction ?? ''} label={words.takeOut.complete} named />
    </Notice>
  )
}

/** The current time, every second while it is needed. */
function useSeconds(needed: boolean): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (!needed) return
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [needed])
  return now
}
