import type { Knex } from 'knex'

/**
 * The custody wallets that the finder looks at for money that was sent plainly to their address (docs/decisions/0081). Apart from
 * `wallets`, whose rows hold sealed keys: the finder has no right to change those.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    create table wallet_watches (
      id bigint primary key references wallets,
      due_at timestamptz default clock_timestamp(),
      attempts int not null default 0,
      -- When its owner was last there, or its holdings changed. The longer ago, the more seldom it is looked at.
      active_at timestamptz(3) not null default clock_timestamp(),
      -- By address, for each account that ever held something: what it held, and how far its transactions are read.
      accounts jsonb not null default '{}') with (fillfactor = 70);
    create index wallet_watches_due on wallet_watches (due_at) where due_at is not null;
    insert into wallet_watches (id) select id from wallets where public_key is not null;
  `)
}
