import { words } from '../../i18n/checkout.js'
import { shortUsd } from '../../lib/money.js'
import { Button, CopyButton, Icon, LinkButton, Qr } from '../../ui/kit.js'
import { chosenCents } from '../machine/form.js'
import {
  Actions,
  back,
  declinedNotice,
  Heading,
  linkOut,
  Outcome,
  payInNaira,
  press,
  type ViewOf,
  WalletIcon,
  Working,
} from './kit.js'

export function Wallets(props: ViewOf<'wallets'>) {
  const { state } = props
  if (state.wallets.length > 0) return <WalletList {...props} />
  if (!state.walletSearchDone) return <Working text={words.searchingWallets} />
  if (state.phone) return <WalletApp {...props} />
  return state.framed ? <NoWalletInFrame /> : <NoWallet {...props} />
}

function WalletList({ state, step }: ViewOf<'wallets'>) {
  return (
    <section class="stack">
      <Heading>{words.chooseWallet}</Heading>
      {step.declined && declinedNotice}
      <ul class="stack">
        {state.wallets.map((wallet) => (
          <li key={wallet.id}>
            {press(
              <>
                <WalletIcon wallet={wallet} size={32} />
                <span class="wallet__name">{wallet.name}</span>
                <span class="quiet">{words.detected}</span>
              </>,
              { type: 'picked', wallet },
            )}
          </li>
        ))}
      </ul>
      <Actions>
        {state.framed && openWindow('quiet')}
        {usePhone('quiet')}
        {back}
      </Actions>
    </section>
  )
}

const ContinueInWindow = () => (
  <>
    {words.continueInWindow} <Icon name="out" />
  </>
)
const OnPhone = () => (
  <>
    <Icon name="phone" /> {words.usePhone}
  </>
)
const openWindow = (kind: 'primary' | 'quiet') => press(<ContinueInWindow />, { type: 'open-window' }, kind)
const usePhone = (kind: 'plain' | 'quiet') => press(<OnPhone />, { type: 'use-phone' }, kind)

function NoWalletInFrame() {
  const text = { title: words.noWalletInFrame, more: words.noWalletInFrameMore }
  const actions = [openWindow('primary'), usePhone('plain'), back]
  return <Outcome tone="plain" icon="wallet" {...text} actions={actions} />
}

function NoWallet({ state }: ViewOf<'wallets'>) {
  const text = { title: words.noWallet, more: words.noWalletMore(state.session?.fiat.enabled === true) }
  const actions = [
    linkOut(words.getPhantom, 'https://phantom.com/download', 'primary'),
    linkOut(words.getSolflare, 'https://www.solflare.com/download/'),
    payInNaira(state, <Icon name="bank" />),
    usePhone('plain'),
    back,
  ]
  return <Outcome tone="plain" icon="wallet" {...text} actions={actions} />
}

function inWalletApp(browse: string, link: string): string {
  return `${browse}${encodeURIComponent(link)}?ref=${encodeURIComponent(location.origin)}`
}

/** On a phone: opens the app of a wallet that is installed, then what needs none, and last the way to get one. */
function WalletApp({ state, step: { links } }: ViewOf<'wallets'>) {
  return (
    <section class="stack">
      <Heading>{words.phone}</Heading>
      {links === undefined ? <Working text={words.stillWorking} /> : <AppLinks browser={links.browser} />}
      <Actions>
        {payInNaira(state, <Icon name="bank" />)}
        <p class="quiet">{words.noAppYet}</p>
        {linkOut(words.getPhantom, 'https://phantom.com/download')}
        {linkOut(words.getSolflare, 'https://www.solflare.com/download/')}
        {state.framed && openWindow('quiet')}
        {back}
      </Actions>
    </section>
  )
}

function AppLinks({ browser }: { readonly browser: string }) {
  return (
    <>
      <LinkButton
        kind="primary"
        href={inWalletApp('https://phantom.app/ul/browse/', browser)}
        text={words.openPhantom}
      />
      <LinkButton
        href={inWalletApp('https://solflare.com/ul/v1/browse/', browser)}
        text={words.openSolflare}
      />
    </>
  )
}

/** Continues on a phone: a QR code for its camera, and links for a tap. */
export function Phone({ state, step: { links } }: ViewOf<'phone'>) {
  const amount = shortUsd((chosenCents(state) ?? 0) / 100)
  return (
    <section class="stack">
      <Heading>{words.phone}</Heading>
      {links === undefined ? (
        <Working text={words.stillWorking} />
      ) : (
        <>
          <p class="quiet">{words.phoneMore}</p>
          <Qr text={links.request ?? links.browser} label={words.scan(amount)} />
          <Actions>
            <AppLinks browser={links.browser} />
            <div class="row">
              <span class="quiet">{words.codeRenewed}</span>
              <CopyButton value={links.browser} label={words.link} named />
            </div>
          </Actions>
        </>
      )}
      {back}
    </section>
  )
}

export function Blocked({ step: { link } }: ViewOf<'blocked'>) {
  const actions =
    link === undefined
      ? [<Working key="working" text={words.stillWorking} />]
      : [
          linkOut(words.openCheckout, link, 'primary'),
          <CopyButton key="copy" value={link} label={words.link} named />,
        ]
  return <Outcome title={words.blocked} more={words.blockedMore} actions={[...actions, back]} />
}

export function OtherWindow({ onShow }: { readonly onShow: () => void }) {
  const text = { title: words.otherWindow, more: words.updatesItself }
  const show = <Button kind="primary" text={words.showWindow} onPress={onShow} />
  const actions = [show, press(words.payInThisWindow, { type: 'start-over' })]
  return <Outcome tone="plain" icon="out" {...text} actions={actions} />
}
