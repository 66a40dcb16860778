import { randomBytes } from 'node:crypto'
import type { Knex } from 'knex'

/** Status links and signed receipts (docs/decisions/0080). */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(
    /* sql */ `
    -- Makes and checks the links to payments. One row. Whoever reads it reads the payments too, so it is not sealed.
    create table status_link_key (
      one boolean primary key default true check (one),
      key bytea not null check (length(key) = 32));
    create trigger status_link_key_kept before update or delete or truncate on status_link_key
      for each statement execute function refuse_change();

    -- Public keys of receipts' signatures (Ed25519, base64url). They stay, so that old receipts can be checked.
    create table receipt_keys (
      -- The key's thumbprint (RFC 7638).
      key_id text primary key check (key_id ~ '^[A-Za-z0-9_-]{43}$'),
      public_key text not null unique check (public_key ~ '^[A-Za-z0-9_-]{43}$'),
      created_at timestamptz(3) not null default clock_timestamp());
    create trigger receipt_keys_kept before update or delete or truncate on receipt_keys
      for each statement execute function refuse_change();
  `,
  )
  await knex.raw('insert into status_link_key (key) values (?)', [randomBytes(32)])
}
