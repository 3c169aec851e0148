import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { Webhook } from "standardwebhooks";
import { createKeyring, createTokens, loadKeys, type Tokens } from "../../src/auth/index.ts";
import { createSecrets } from "../../../kernel/src/lib/secrets.ts";
import { secretKeysOf } from "../../../server/src/installation/secret-keys.ts";
import { openStore } from "../../../kernel/src/store/index.ts";
import { type Installation, startInstallation } from "../../../server/test/support/installation.ts";
import { eventually } from "../../../server/test/support/eventually.ts";

const EXAMPLE = fileURLToPath(new URL("../../../../examples/receiver.ts", import.meta.url));
const WAIT_MS = 60_000;
const PUSHES = ["dev.moorage.registry.push."];
const OLD_S = 600;

/** A request of the server, as the sink received it. */
interface Sent {
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** A sink that records requests, forwards them to `target`, and returns the answers. */
interface Relay {
  url: string;
  sent: Sent[];
  target: string;
}

interface Subscription {
  uid: string;
  secret: string;
}

/** The running example, and what it printed. */
interface Example {
  url: string;
  printed: string[];
  refused: string[];
}

test(
  "the example accepts a push of a real server once, and rejects events with a wrong or missing proof",
  { timeout: 300_000 },
  async (t) => {
    const { installation, relay, organization } = await setUp(t);
    const { uid: below } = await installation.api("POST", `/iam/v2/groups/${organization}`, { name: "below" });
    const subscription = await subscribe(installation, organization, `${relay.url}/organization`);
    await subscribe(installation, below, `${relay.url}/below`);
    const example = await startExample(t, {
      ISSUER: installation.config.baseUrl,
      GROUP: organization,
      SECRET: subscription.secret,
    });
    relay.target = example.url;

    const { digest } = await installation.pushImage("acme/below/app", "1.0", "one");
    const isManifest = ({ body }: Sent): boolean => body.includes(digest) && body.includes('"1.0"');
    const event = await eventually(() => relay.sent.find((sent) => sent.path === "/organization" && isManifest(sent)));
    const elsewhere = await eventually(() => relay.sent.find((sent) => sent.path === "/below" && isManifest(sent)));
    assert.equal(event.headers["ce-id"], elsewhere.headers["ce-id"]);
    const line = await eventually(() => example.printed.find((one) => one.includes(digest)));
    assert.match(
      line,
      /^dev\.moorage\.registry\.push\.v1 [0-9a-f/]+ \{.*"repository":"acme\/below\/app".*"tag":"1\.0"/,
    );

    const send = async ({
      headers = {},
      body = event.body,
    }: {
      headers?: Record<string, string>;
      body?: string;
    }): Promise<number> =>
      (
        await fetch(example.url, {
          method: "POST",
          headers: { ...event.headers, ...headers },
          body,
          signal: AbortSignal.timeout(WAIT_MS),
        })
      ).status;
    assert.equal(await send({}), 204, "the same event is accepted again,");
    assert.equal(example.printed.filter((one) => one.includes(digest)).length, 1, "and not printed again");

    const id = event.headers["ce-id"] ?? "";
    const tampered = event.body.replace('"1.0"', '"1.1"');
    const tokens = await tokensOf(t, installation);
    const tokenFor = async (body: string, audience = "customer"): Promise<Record<string, string>> =>
      bearer(
        (
          await tokens.mint({
            type: "webhook",
            identity: organization,
            audiences: [audience],
            ttlMs: 60_000,
            nowMs: Date.now(),
            webhook: { digest: sha256(body) },
          })
        ).token,
      );
    const { token: undigested } = await tokens.mint({
      type: "account",
      identity: `webhook:${organization}`,
      audiences: ["customer"],
      ttlMs: 60_000,
      nowMs: Date.now(),
    });
    const another = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
    const oldS = Math.floor(Date.now() / 1_000) - OLD_S;
    const attempts: [string, { headers?: Record<string, string>; body?: string }, RegExp][] = [
      ["another body", { body: tampered }, /another body/],
      [
        "another body, signed with the secret",
        { body: tampered, headers: signature(subscription.secret, id, tampered) },
        /another body/,
      ],
      ["another body, with a token of its own", { body: tampered, headers: await tokenFor(tampered) }, /signature/],
      ["another secret", { headers: signature(another, id, event.body) }, /signature/],
      ["the token of another group", { headers: { authorization: elsewhere.headers["authorization"] ?? "" } }, /"sub"/],
      ["a token without a digest", { headers: bearer(undigested) }, /another body/],
      ["a token for others", { headers: await tokenFor(event.body, "others") }, /"aud"/],
      ["a caller's token", { headers: bearer(installation.platform) }, /"sub"/],
      ["no token", { headers: { authorization: "" } }, /JW/],
      ["an old time", { headers: signature(subscription.secret, id, event.body, oldS) }, /too old/],
      ["an old time with the new signature", { headers: { "webhook-timestamp": String(oldS) } }, /too old/],
      ["the id of another event", { headers: { "ce-id": "another" } }, /another event/],
      ["no signature", { headers: { "webhook-signature": "" } }, /headers/],
      ["too much", { body: "a".repeat(2 ** 20 + 1) }, /too long/],
    ];
    for (const [what, request, reason] of attempts) {
      const before = example.refused.length;
      assert.notEqual(await send(request).catch(() => 0), 204, what);
      assert.match(await eventually(() => example.refused[before]), reason, what);
    }
    // A valid event made in the same way is accepted, so the others failed for their faults.
    const fresh = {
      ...(await tokenFor(tampered)),
      ...signature(subscription.secret, "fresh", tampered),
      "ce-id": "fresh",
    };
    assert.equal(await send({ body: tampered, headers: fresh }), 204);
    await eventually(() => example.printed.find((one) => one.includes('"1.1"')));
  },
);

test(
  "while a secret is replaced, the reference library verifies with the old one and with the new one",
  { timeout: 300_000 },
  async (t) => {
    const { installation, relay, organization } = await setUp(t);
    const { uid, secret: first } = await subscribe(installation, organization, `${relay.url}/rotated`);
    const sentAfter = async (content: string): Promise<Sent> => {
      const { digest } = await installation.pushImage("acme/app", "latest", content);
      return eventually(() => relay.sent.find(({ body }) => body.includes(digest)));
    };
    const verifies = (secret: string, { body, headers }: Sent): boolean => {
      try {
        new Webhook(secret).verify(body, headers);
        return true;
      } catch {
        return false;
      }
    };
    const rotate = async (overlap: string): Promise<string> =>
      (await installation.api<Subscription>("POST", `/events/v2/subscriptions/${uid}:rotateSecret`, { overlap }))
        .secret;
    const one = await sentAfter("one");
    assert.ok(verifies(first, one));

    const second = await rotate("3600s");
    const two = await sentAfter("two");
    assert.equal(two.headers["webhook-signature"]?.split(" ").length, 2);
    assert.deepEqual([verifies(first, two), verifies(second, two)], [true, true]);
    assert.ok(!verifies(second, one), "what was sent before was signed with the old one alone");

    const third = await rotate("0s");
    const three = await sentAfter("three");
    assert.deepEqual([verifies(first, three), verifies(second, three), verifies(third, three)], [false, false, true]);
  },
);

async function setUp(t: TestContext): Promise<{ installation: Installation; relay: Relay; organization: string }> {
  const relay = await openRelay(t);
  const installation = await startInstallation(t, { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  return { installation, relay, organization: installation.bootstrap.organization.uid };
}

async function openRelay(t: TestContext): Promise<Relay> {
  const relay: Relay = { url: "", sent: [], target: "" };
  const server = createServer((req, res) => {
    const { method = "", url: path = "" } = req;
    void text(req)
      .then(async (body) => {
        if (method !== "POST") return void res.writeHead(405).end();
        const headers = plain(req.headers);
        const status =
          path === "/organization"
            ? (await fetch(relay.target, { method, headers, body, signal: AbortSignal.timeout(WAIT_MS) })).status
            : 204;
        relay.sent.push({ path, headers, body });
        res.writeHead(status).end();
      })
      .catch(() => res.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  relay.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return relay;
}

/** The headers without those of the connection. */
function plain(headers: IncomingHttpHeaders): Record<string, string> {
  const ours = /^(?:ce-|webhook-|authorization$|content-type$|user-agent$)/;
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => ours.test(name))
      .map(([name, value]) => [name, String(value)]),
  );
}

async function subscribe({ api }: Installation, group: string, sink: string): Promise<Subscription> {
  return await api<Subscription>("POST", `/events/v2/subscriptions/${group}`, { sink, typePrefixes: PUSHES });
}

/** Starts the example as its document says; it ends with the test. */
async function startExample(t: TestContext, env: Record<string, string>): Promise<Example> {
  const child = spawn(process.execPath, [EXAMPLE], {
    env: { ...process.env, ...env, PORT: "0" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "exit");
  t.after(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const example: Example = { url: "", printed: [], refused: [] };
  createInterface({ input: child.stderr }).on("line", (line) => void example.refused.push(line));
  createInterface({ input: child.stdout }).on("line", (line) => {
    const port = /^waiting for events on .*port: (\d+)/.exec(line)?.[1];
    if (port === undefined) example.printed.push(line);
    else example.url = `http://127.0.0.1:${port}`;
  });
  await eventually(() => (example.url === "" ? undefined : true));
  return example;
}

async function tokensOf(t: TestContext, { config }: Installation): Promise<Tokens> {
  const store = await openStore(config);
  t.after(() => store.close());
  const secrets = createSecrets(await secretKeysOf(config, store));
  return createTokens({ issuer: config.baseUrl, keyring: createKeyring(() => loadKeys(store.reader, secrets)) });
}

function signature(
  secret: string,
  id: string,
  body: string,
  seconds = Math.floor(Date.now() / 1_000),
): Record<string, string> {
  return {
    "webhook-id": id,
    "webhook-timestamp": String(seconds),
    "webhook-signature": new Webhook(secret).sign(id, new Date(seconds * 1_000), body),
  };
}

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

function sha256(body: string): string {
  return `sha256:${createHash("sha256").update(body).digest("hex")}`;
}

/** Polls until `find` returns a value. */
