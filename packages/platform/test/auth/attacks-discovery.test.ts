import assert from "node:assert/strict";
import { createServer, type ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import type { AddressInfo } from "node:net";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { guardedFetch } from "../../../kernel/src/lib/guarded-fetch.ts";
import { Code } from "../../../kernel/src/errors.ts";
import { type AccessHouse, openAccess } from "../../../server/test/support/access.ts";
import { attackOn, refused } from "../../../server/test/support/attacks.ts";
import { type Issuer, openIssuer } from "../../../server/test/support/issuer.ts";

// One test for each attack: it begins with a token that is accepted, changes one thing, and expects a rejection.
let house: AccessHouse;
let issuer: Issuer;
const { claims, exchange, matching, unaccepted, unusable } = attackOn(() => ({ house, issuer }));

before(async () => {
  house = await openAccess();
});
after(() => house.close());
beforeEach(async () => {
  issuer = await openIssuer();
  await house.addIdentity(matching("robot"));
});
afterEach(() => issuer.close());

describe("discovery", () => {
  const answering = (path: string, answer: (response: ServerResponse) => void) =>
    issuer.routes.set(path, (_request, response) => answer(response));
  const discovery = "/.well-known/openid-configuration";

  test("that names another issuer is refused", async () => {
    for (const lie of ["https://accounts.example", `${issuer.url}/`, undefined, 7, [issuer.url]]) {
      answering(discovery, (response) => response.end(JSON.stringify({ issuer: lie, jwks_uri: `${issuer.url}/jwks` })));
      await unusable(exchange(await issuer.sign(claims())), "its discovery document names another issuer");
      house.clock.nowMs += 6_000;
    }
    assert.ok(!issuer.requests.includes("/jwks"));
  });

  test("that redirects, or whose keys do, is refused", async () => {
    for (const path of [discovery, "/jwks"]) {
      answering(path, (response) => response.writeHead(302, { location: `${issuer.url}/elsewhere` }).end());
      await unusable(exchange(await issuer.sign(claims())), "the answer is a redirect");
      house.clock.nowMs += 6_000;
      issuer.routes.delete(path);
    }
    assert.ok(!issuer.requests.includes("/elsewhere"));
  });

  test("that is oversized, compressed, no JSON, or deeply nested is refused", async () => {
    const large = `{"issuer":"${issuer.url}","x":"${"x".repeat(600_000)}"}`;
    const bad: [(response: ServerResponse) => void, string][] = [
      [(response) => response.end(large), "the answer is too large"],
      [(response) => response.setHeader("content-encoding", "gzip").end("x"), "the answer cannot be unpacked"],
      [(response) => response.setHeader("content-encoding", "gzip").end(gzipSync(large)), "the answer is too large"],
      [(response) => response.setHeader("content-encoding", "br").end("x"), "the answer is encoded"],
      [(response) => response.end("<html>"), "it does not answer with JSON"],
      [
        (response) =>
          response.end(
            `{"issuer":"${issuer.url}","jwks_uri":"${issuer.url}/jwks","x":${"[".repeat(50_000)}${"]".repeat(50_000)}}`,
          ),
        "it does not answer with JSON",
      ],
      [(response) => response.writeHead(404).end(), "it answers 404, not a document"],
    ];
    for (const [answer, because] of bad) {
      answering(discovery, answer);
      await unusable(exchange(await issuer.sign(claims())), because);
      house.clock.nowMs += 6_000;
    }
  });

  test("whose documents come in gzip though nobody asked for it is read", async () => {
    for (const [path, document] of [
      [discovery, { issuer: issuer.url, jwks_uri: `${issuer.url}/jwks` }],
      ["/jwks", issuer.jwks],
    ] as const) {
      const packed = gzipSync(JSON.stringify(document));
      answering(path, (response) => response.setHeader("content-encoding", "gzip").end(packed));
    }
    await exchange(await issuer.sign(claims()));
  });

  test("that hangs up or fails is UNAVAILABLE, with its host alone, and is asked again only after a while", async () => {
    answering(discovery, (response) => response.destroy());
    const message = `Unavailable: the token issuer ${new URL(issuer.url).host} could not be asked for its keys: it broke off`;
    await assert.rejects(exchange(await issuer.sign(claims())), { code: Code.Unavailable, message });
    const asked = issuer.requests.length;
    await refused(exchange(await issuer.sign(claims())), Code.Unavailable);
    assert.equal(issuer.requests.length, asked);
    issuer.routes.clear();
    house.clock.nowMs += 6_000;
    await exchange(await issuer.sign(claims()));
  });

  test("at private addresses is refused, unless allowed", async () => {
    const strict = await openAccess({ allowPrivateNetwork: false });
    try {
      const { port } = new URL(issuer.url);
      for (const url of [
        issuer.url,
        ...["127.0.0.1", "localhost", "2130706433", "[::1]", "[::ffff:127.0.0.1]"].map(
          (host) => `https://${host}:${port}`,
        ),
      ]) {
        await strict.addIdentity({
          case: "claimMatch",
          value: { iss: { case: "issuer", value: url }, sub: { case: "subject", value: "robot" } },
        });
        const bearer = await issuer.sign(claims({ iss: url, aud: strict.baseUrl }));
        const because = url.startsWith("https:") ? "the address is not a public one" : "not an https URL";
        await unusable(strict.exchanger.exchange({ bearer, audiences: [] }, strict.data()), because, { iss: url });
      }
      assert.deepEqual(issuer.requests, []);
    } finally {
      await strict.close();
    }
  });

  test("that fails for tokens with unknown kids keeps the known keys, and is not asked for each kid", async () => {
    await exchange(await issuer.sign(claims()));
    answering(discovery, (response) => response.destroy());
    house.clock.nowMs += 31_000;
    await refused(exchange(await issuer.sign(claims(), { kid: "made-up" })), Code.Unavailable);
    const asked = issuer.requests.length;
    house.clock.nowMs += 6_000;
    await unaccepted(exchange(await issuer.sign(claims(), { kid: "made-up" })));
    await exchange(await issuer.sign(claims()));
    assert.equal(issuer.requests.length, asked);
  });

  test("of arbitrary issuers, for an identity that accepts any: few are asked at a time, the rest is refused immediately", async () => {
    const anything = {
      iss: { case: "issuerPattern" as const, value: ".*" },
      sub: { case: "subjectPattern" as const, value: ".*" },
    };
    const named = await house.addIdentity({ case: "claimMatch", value: anything });
    const held: ServerResponse[] = [];
    const names = Array.from({ length: 100 }, (_, index) => `${issuer.url}/made-up-${index}`);
    for (const name of names)
      answering(`${new URL(name).pathname}${discovery}`, (response) => void held.push(response));
    let refusedAtOnce = 0;
    const { promise: most, resolve } = Promise.withResolvers<void>();
    const all = Promise.all(
      names.map(async (iss) => {
        await refused(exchange(await issuer.sign(claims({ iss })), { identity: named }), Code.Unavailable);
        refusedAtOnce += 1;
        if (refusedAtOnce === names.length - 32) resolve();
      }),
    );
    await most;
    assert.ok(held.length <= 32, `${held.length} are asked`);
    // Requests for the waiting issuers are under way already, or about to be.
    const hangUp = setInterval(() => {
      for (const response of held.splice(0)) response.destroy();
    }, 5);
    await all.finally(() => clearInterval(hangUp));
    await exchange(await issuer.sign(claims()));
  });

  test("is read once for many concurrent callers", async () => {
    const bearer = await issuer.sign(claims());
    await Promise.all(Array.from({ length: 20 }, () => exchange(bearer)));
    assert.deepEqual(issuer.requests, [discovery, "/jwks"]);
  });
});

test("a host name that resolves to a private address is refused at the connection, and nothing is sent", async () => {
  let asked = 0;
  const server = createServer();
  server.on("connection", () => {
    asked += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const closed = guardedFetch({ allowPrivateNetwork: false, timeoutMs: 30_000, maxBytes: 10 });
  try {
    await assert.rejects(closed(`https://localhost:${port}/`), { kind: "refused" });
    assert.equal(asked, 0);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});
