import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeJwt } from "jose";
import { sql } from "kysely";
import { openAccess } from "../../../server/test/support/access.ts";
import { attackOn } from "../../../server/test/support/attacks.ts";
import { openIssuer } from "../../../server/test/support/issuer.ts";

// SQLite on a full disk is in test/faults/full-disk.test.ts.
const skip = process.env["MOORAGE_TEST_POSTGRES_URL"] ? false : "only PostgreSQL can be made to say that it is full";

const FULL =
  "the database is full; refused: all writes; served: pulls and other reads; delete what is not needed and run moorage gc, or enlarge it";

test("without any space an identity that is there gets a token, without a refresh token", { skip }, async (t) => {
  const house = await openAccess({ expected: [FULL] });
  t.after(() => house.close());
  const issuer = await openIssuer();
  t.after(() => issuer.close());
  const { claims, exchange, matching } = attackOn(() => ({ house, issuer }));
  const identity = await house.addIdentity(matching("robot"));
  await sql`create function full_disk() returns trigger language plpgsql as
    $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$`.execute(house.db);
  for (const table of ["refresh_tokens", "audit_entries", "identities"])
    await sql`create trigger full_disk before insert or update on ${sql.table(table)} execute function full_disk()`.execute(
      house.db,
    );
  const answer = await exchange(await issuer.sign(claims()));
  assert.equal(decodeJwt(answer.token).sub, identity);
  assert.deepEqual([answer.refreshToken, answer.refreshExpiresAtMs], ["", 0]);
  const again = await exchange(answer.token, { audiences: [house.registryAudience] });
  assert.equal(decodeJwt(again.token).sub, identity);
});
