import type { Knex } from 'knex'

/** Links that log in while an account's one-time codes are locked (docs/decisions/0046). */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    alter table otp_codes
      -- SHA-256 of the newest link's token; null without one and once it is used.
      add column link_hash bytea check (length(link_hash) = 32),
      -- The newest link is valid for 15 minutes from then, and no other is mailed meanwhile.
      add column link_mailed_at timestamptz,
      add check (link_hash is null or link_mailed_at is not null);
    create unique index otp_codes_link on otp_codes (link_hash) where link_hash is not null;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table otp_codes drop column link_hash, drop column link_mailed_at')
}
