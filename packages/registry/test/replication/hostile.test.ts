// Destinations that lie, lead elsewhere, send without end, or limit requests.
import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { eventually } from "../../../server/test/support/eventually.ts";
import { digestOf } from "../../../server/test/support/installation.ts";
import { startReplicas } from "../../../server/test/support/replication.ts";

const PATH = "/registry/v2/replications";

/** Answers a request, or returns false for what a registry without content would do. */
type Trick = (req: IncomingMessage, res: ServerResponse) => boolean;

async function listen(t: TestContext, handle: (req: IncomingMessage, res: ServerResponse) => void): Promise<string> {
  const server: Server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A registry that takes everything, and has nothing. */
function take(req: IncomingMessage, res: ServerResponse): void {
  req.resume();
  req.on("end", () => {
    const path = req.url ?? "";
    if (req.method === "POST") res.writeHead(202, { location: `${path.replace(/\?.*/, "")}an-upload` }).end();
    else if (req.method === "PUT") res.writeHead(201).end();
    else res.writeHead(404).end();
  });
}

async function startHostile(t: TestContext) {
  const elsewhere: string[] = [];
  const other = await listen(t, (req, res) => {
    elsewhere.push(`${req.method} ${req.url}`);
    res.writeHead(202).end();
  });
  const tricks: { now: Trick } = { now: () => false };
  const asked: string[] = [];
  const url = await listen(t, (req, res) => {
    asked.push(`${req.method} ${req.url}`);
    if (!tricks.now(req, res)) take(req, res);
  });
  const replicas = await startReplicas(t);
  await replicas.here.pushImage("acme/app", "1", "one");
  return { ...replicas, other, elsewhere, tricks, asked, destination: `${url}/copy` };
}

test("a destination that lies or leads elsewhere is failed with words, and nothing is sent there", async (t) => {
  const { here, rule, items, tricks, destination, other, elsewhere } = await startHostile(t);
  const on =
    (method: string, part: string, answer: (res: ServerResponse) => void): Trick =>
    (req, res) => {
      if (req.method !== method || !(req.url ?? "").includes(part)) return false;
      req.resume();
      answer(res);
      return true;
    };
  const cases: [Trick, RegExp][] = [
    [
      on("POST", "/uploads/", (res) => res.writeHead(202, { location: `${other}/take/it` }).end()),
      /begins an upload at another host/,
    ],
    [
      on("POST", "/uploads/", (res) => res.writeHead(202, { location: "http://169.254.169.254/latest" }).end()),
      /begins an upload at another host/,
    ],
    [on("POST", "/uploads/", (res) => res.writeHead(202).end()), /begins an upload without saying where/],
    [
      on("POST", "/uploads/", (res) => res.writeHead(307, { location: `${other}/take/it` }).end()),
      /redirects when asked to begin an upload, which is not followed/,
    ],
    [
      on("PUT", "/uploads/", (res) => res.writeHead(308, { location: `${other}/take/it` }).end()),
      /redirects when asked to take the blob/,
    ],
    [
      on("PUT", "/manifests/", (res) => res.writeHead(201, { "docker-content-digest": digestOf("another") }).end()),
      /says that it stored another manifest/,
    ],
    [() => false, /took the tag, and says that it points to nothing/],
    [on("HEAD", "/manifests/", (res) => res.writeHead(418).end()), /answered 418 when asked for a manifest/],
    [
      (req, res) => {
        if (!(req.url ?? "").includes("/manifests/")) return false;
        res.writeHead(200);
        if (req.method === "HEAD") res.end();
        else endless(res);
        return true;
      },
      /the answer is too large/,
    ],
    [
      (req, res) => {
        req.resume();
        const realm = `Bearer realm="${other}/token",service="x"`;
        res.writeHead(401, { "www-authenticate": realm }).end();
        return true;
      },
      /token endpoint refused the credentials|token endpoint answers/,
    ],
  ];
  tricks.now = (cases[0] as [Trick, RegExp])[0];
  const { uid } = await rule({ destination, username: "", password: "" });
  for (const [trick, words] of cases) {
    tricks.now = trick;
    await here.api("POST", `${PATH}/${uid}:run`, {});
    await eventually(async () => (await items(uid)).some(({ message }) => words.test(message)));
  }
  assert.deepEqual(
    [...new Set(elsewhere)].filter((each) => !each.includes("/token")),
    [],
  );
});

function endless(res: ServerResponse): void {
  const piece = Buffer.alloc(64 * 1024, "x");
  const more = (): void => {
    while (!res.destroyed && res.write(piece));
  };
  res.on("drain", more);
  more();
}

test("429 holds the whole rule until its Retry-After", async (t) => {
  const { here, rule, items, tricks, destination, asked } = await startHostile(t);
  tricks.now = (req, res) => {
    req.resume();
    res.writeHead(429, { "retry-after": "3600" }).end();
    return true;
  };
  const { uid } = await rule({ destination, username: "", password: "" });
  const item = await eventually(async () => (await items(uid)).find(({ message }) => message !== ""));
  assert.match(item.message, /asks to come back later \(429\)/);
  assert.ok(Date.parse(item.nextTime ?? "") > Date.now() + 1_800_000, String(item.nextTime));
  const before = asked.length;
  await here.pushImage("acme/app", "2", "two");
  await eventually(async () => (await items(uid)).length === 2);
  assert.equal(asked.length, before);
});
