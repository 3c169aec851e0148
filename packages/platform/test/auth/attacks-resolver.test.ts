import assert from "node:assert/strict";
import { test } from "node:test";
import { Code } from "../../../kernel/src/errors.ts";
import { newUid } from "../../../kernel/src/lib/uid.ts";
import { openAccess } from "../../../server/test/support/access.ts";
import { attackOn } from "../../../server/test/support/attacks.ts";
import { openIssuer } from "../../../server/test/support/issuer.ts";
import { openNameServer } from "../../../server/test/support/name-server.ts";
import { eventually } from "../../../server/test/support/eventually.ts";

test("exchanges with issuers whose names never resolve starve neither new nor known issuers of other organizations", async (t) => {
  const server = await openNameServer(t, { "known.test": ["127.0.0.1"], "new.test": ["127.0.0.1"] });
  const house = await openAccess({ env: { MOORAGE_DNS_SERVERS: server.address } });
  t.after(() => house.close());
  const issuer = await openIssuer();
  t.after(() => issuer.close());
  const { claims, exchange } = attackOn(() => ({ house, issuer }));
  const { port } = new URL(issuer.url);
  issuer.routes.set("/.well-known/openid-configuration", ({ headers: { host } }, response) =>
    response.end(JSON.stringify({ issuer: `http://${host}`, jwks_uri: `http://${host}/jwks` })),
  );
  const named = async (name: string, organization: string) => {
    const url = `http://${name}:${port}`;
    const identity = await house.addIdentity(
      { case: "claimMatch", value: { iss: { case: "issuer", value: url }, sub: { case: "subject", value: "robot" } } },
      organization,
    );
    return async () => await exchange(await issuer.sign(claims({ iss: url })), { identity });
  };
  const known = await named("known.test", newUid(""));
  const fresh = await named("new.test", newUid(""));
  await known();
  // The keys of the known issuer are asked for again.
  house.clock.nowMs += 700_000;

  const planted = await house.addIdentity(
    {
      case: "claimMatch",
      value: { iss: { case: "issuerPattern", value: "http://.*" }, sub: { case: "subjectPattern", value: ".*" } },
    },
    newUid(""),
  );
  let ended = 0;
  const attack = Promise.all(
    Array.from({ length: 24 }, async (_, at) => {
      const bearer = await issuer.sign(claims({ iss: `http://${at}.silent:${port}` }));
      await assert.rejects(exchange(bearer, { identity: planted }), { code: Code.Unavailable });
      ended += 1;
    }),
  );
  const silent = (): number => new Set(server.questions.filter((each) => each.includes(".silent"))).size;
  await eventually(() => silent() >= 16);
  await Promise.all([known(), fresh()]);
  assert.equal(ended, 16, "the organization has eight issuers asked concurrently, and the others ended before");
  await attack;
  assert.equal(silent(), 16, "eight names, of both families");
});
