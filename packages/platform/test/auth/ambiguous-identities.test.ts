import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { decodeJwt } from "jose";
import { Code, MoorageError } from "../../../kernel/src/errors.ts";
import { newUid } from "../../../kernel/src/lib/uid.ts";
import { type AccessHouse, openAccess } from "../../../server/test/support/access.ts";
import { attackOn } from "../../../server/test/support/attacks.ts";
import { type Issuer, openIssuer } from "../../../server/test/support/issuer.ts";

// Several identities, in several organizations, have the issuer and subject of one token.
let house: AccessHouse;
let issuer: Issuer;
const { claims, exchange, matching, unaccepted } = attackOn(() => ({ house, issuer }));

before(async () => {
  house = await openAccess();
});
after(() => house.close());
beforeEach(async () => {
  issuer = await openIssuer();
});
afterEach(() => issuer.close());

let count = 0;
/** A new organization with an identity for `robot`; `environment`: which claim it wants beside. */
async function organization(environment?: string): Promise<{ uid: string; name: string; identity: string }> {
  const uid = newUid("");
  const name = `org-${(count += 1)}`;
  await house.db
    .insertInto("groups")
    .values({
      uid,
      parent: "",
      name,
      description: "",
      verified: 0,
      kind: 0,
      status: 1,
      resource_limits: "[]",
      create_time: 0,
      update_time: 0,
    })
    .execute();
  return { uid, name, identity: await identityIn(uid, environment) };
}

function identityIn(parent: string, environment?: string): Promise<string> {
  const { value } = matching("robot");
  const wanted = environment === undefined ? {} : { claims: { environment } };
  return house.addIdentity({ case: "claimMatch", value: { ...value, ...wanted } }, parent);
}

const holder = (token: string): unknown => decodeJwt(token).sub;

test("of several identities that accept a token, the one in the organization asked for wins", async () => {
  const [mine, other] = [await organization(), await organization()];
  const bearer = await issuer.sign(claims());
  for (const { uid, name, identity } of [mine, other]) {
    assert.equal(holder((await exchange(bearer, { scopes: [uid] })).token), identity);
    assert.equal(holder((await exchange(bearer, { scopes: [newUid(uid)] })).token), identity, "by a group below it");
    assert.equal(holder((await exchange(bearer, { organizations: [name] })).token), identity, "by an image's path");
    assert.equal(holder((await exchange(bearer, { identity })).token), identity);
  }
});

test("without an organization, the answer has the choices: those that accept the token, and no others", async () => {
  const [mine, other, strict] = [await organization(), await organization(), await organization("production")];
  await assert.rejects(exchange(await issuer.sign(claims())), (error: unknown) => {
    assert.ok(error instanceof MoorageError);
    assert.equal(error.code, Code.InvalidArgument);
    const [first, second] = [mine, other].toSorted((one, two) => (one.identity < two.identity ? -1 : 1));
    assert.equal(
      error.message,
      `Invalid argument: identity: several identities accept this token; name one, or a group of its organization as the scope: ${first?.identity} (${first?.name}), ${second?.identity} (${second?.name})`,
    );
    assert.deepEqual(error.details.metadata, { identities: `${first?.identity},${second?.identity}` });
    assert.ok(!error.message.includes(strict.identity));
    return true;
  });
  await unaccepted(exchange(await issuer.sign(claims({ sub: "nobody" }))));
});

test("an identity of an organization that was not asked for is still found when none of that one accepts", async () => {
  const [mine, other] = [await organization(), await organization("production")];
  const answer = await exchange(await issuer.sign(claims()), { scopes: [other.uid] });
  assert.equal(holder(answer.token), mine.identity);
});

test("identities that do not accept the token change nothing, however many there are, in one organization or others", async () => {
  const strangers = await Promise.all(Array.from({ length: 21 }, () => organization("production")));
  for (let added = 0; added < 150; added += 1) await identityIn(strangers[0]?.uid ?? "", "production");
  const mine = await organization();
  for (let added = 0; added < 21; added += 1) await identityIn(mine.uid, "staging");
  const answer = await exchange(await issuer.sign(claims()));
  assert.equal(holder(answer.token), mine.identity);
});
