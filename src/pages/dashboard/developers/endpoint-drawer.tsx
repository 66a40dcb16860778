import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Announcer, Button, Fact, Notice } from '../../ui/kit.js'
import type { Webhook } from '../answers.js'
import { call } from '../api.js'
import { momentText } from '../dates.js'
import { Dialog } from '../parts/forms.js'
import { FaultNotice } from '../parts/notices.js'
import { useSubmit } from '../requests.js'
import { Deliveries } from './deliveries.js'
import { type Asked, EndpointMark, hooksPath, typesText } from './endpoint.js'

interface EndpointDrawerProps {
  hook: Webhook
  onAsk: (what: Asked) => void
  onChanged: () => void
  onClose: () => void
}

/** An endpoint, what can be done with it, and its deliveries. */
export function EndpointDrawer({ hook, onAsk, onChanged, onClose }: EndpointDrawerProps) {
  const [news, setNews] = useState('')
  const path = `${hooksPath}/${hook.id}`
  const text = words.hooks
  const test = useSubmit(async () => {
    await call('POST', `${path}/test`, { body: {} })
    setNews(text.tested)
    onChanged()
  })
  const turnOff = useSubmit(async () => {
    await call('PATCH', path, { body: { status: 'disabled' } })
    setNews('')
    onChanged()
  })
  const { description, disabledBy, disabledAt, previousSecretUntil } = hook
  return (
    <Dialog title={hook.url} side onClose={onClose}>
      <p>
        <EndpointMark of={hook} />
      </p>
      {disabledBy !== null && disabledAt !== null && (
        <Notice tone="warn" text={text.offSince(text.off[disabledBy], momentText(disabledAt))} />
      )}
      <dl class="facts">
        {description !== null && (
          <Fact name={text.description}>
            <bdi>{description}</bdi>
          </Fact>
        )}
        <Fact name={text.events}>{typesText(hook)}</Fact>
        <Fact name={text.publicKey} copied={hook.publicKey}>
          <code>{hook.publicKey}</code>
        </Fact>
        {previousSecretUntil !== null && (
          <Fact name={text.oldUntil}>{text.untilMoment(momentText(previousSecretUntil))}</Fact>
        )}
      </dl>
      <div class="pair">
        {disabledBy === null ? (
          <>
            <Button does={test} text={text.test} />
            <Button does={turnOff} text={text.turnOff} />
          </>
        ) : (
          disabledBy !== 'operator' && (
            <Button kind="primary" text={text.turnOn} onPress={() => onAsk('enable')} />
          )
        )}
        <Button text={text.change} onPress={() => onAsk('change')} />
        <Button text={text.rotate} onPress={() => onAsk('rotate')} />
        <Button text={text.delete} onPress={() => onAsk('delete')} />
      </div>
      <FaultNotice fault={test.fault ?? turnOff.fault} />
      <Announcer text={news} />
      {news !== '' && <Notice tone="good" text={news} />}
      <Deliveries path={path} isOn={disabledBy === null} onSent={setNews} />
      <Button kind="primary" text={words.close} onPress={onClose} />
    </Dialog>
  )
}
