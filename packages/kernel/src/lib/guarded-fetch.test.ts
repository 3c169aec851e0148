import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { checkedUrl, guardedFetch, isPublicAddress } from "./guarded-fetch.ts";

const open = { allowPrivateNetwork: true, timeoutMs: 30_000, maxBytes: 1_000 };

async function serving(listener: RequestListener, work: (url: string) => Promise<void>): Promise<void> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

test("only addresses of the public internet count as public", () => {
  for (const address of ["1.1.1.1", "8.8.8.8", "172.15.255.255", "172.32.0.1", "2606:4700::1111", "::ffff:8.8.8.8"])
    assert.ok(isPublicAddress(address), address);
  for (const address of [
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "100.64.0.1",
    "127.0.0.1",
    "127.255.0.1",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.0.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::a00:1",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::1",
    "3fff::1",
    "4000::1",
    "5f00::1",
    "fc00::1",
    "fd00::1",
    "fe80::1",
    "fec0::1",
    "ff02::1",
    "localhost",
    "",
    "1.1.1.1.1",
  ])
    assert.ok(!isPublicAddress(address), address);
});

test("the guarded fetch gets, posts and enforces its limits", () =>
  serving(
    (request, response) => {
      const path = request.url ?? "";
      if (path === "/echo") return request.pipe(response);
      if (path === "/exact") return response.end("x".repeat(1_000));
      if (path === "/declared") return response.writeHead(200, { "content-length": 1_001 }).end("x".repeat(1_001));
      if (path === "/undeclared") {
        response.write("x".repeat(600));
        return response.end("x".repeat(600));
      }
      if (path === "/bomb")
        return response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("x".repeat(100_000)));
      if (path === "/slow") return response.write("x");
      if (path.startsWith("/3")) return response.writeHead(Number(path.slice(1)), { location: "/exact" }).end();
      return response.writeHead(404).end("no");
    },
    async (url) => {
      const fetch = guardedFetch(open);
      assert.equal((await fetch(`${url}/echo`, { method: "POST", body: "hello" })).body.toString(), "hello");
      assert.equal((await fetch(`${url}/exact`)).body.length, 1_000);
      assert.deepEqual([(await fetch(`${url}/nothing`)).status], [404]);
      for (const path of ["declared", "undeclared", "bomb", "301", "302", "303", "307", "308"])
        await assert.rejects(fetch(`${url}/${path}`), { kind: "refused" }, path);
      await assert.rejects(guardedFetch({ ...open, timeoutMs: 100 })(`${url}/slow`), { kind: "failed" });
      await assert.rejects(fetch(url.replace("//", "//user:secret@")), { kind: "refused" });
    },
  ));

test("a closed port is `failed`, and any URL that is not https is `refused`", async () => {
  let url = "";
  await serving(
    () => {},
    async (found) => {
      url = found;
    },
  );
  await assert.rejects(guardedFetch(open)(url), { kind: "failed" });
  const closed = guardedFetch({ ...open, allowPrivateNetwork: false });
  for (const bad of [
    "http://1.1.1.1/",
    "ftp://1.1.1.1/",
    "file:///etc/passwd",
    "no url",
    "https://127.0.0.1/",
    "https://0/",
    "https://2130706433/",
    "https://0x7f.1/",
    "https://017700000001/",
    "https://[::ffff:7f00:1]/",
    "https://[64:ff9b::a00:1]/",
    "https://localhost/",
    "https://1.1.1.1@127.0.0.1/",
    "https://169.254.169.254/latest/meta-data",
  ])
    await assert.rejects(closed(bad), { kind: "refused" }, bad);
});

test("plain http is for public addresses alone where signed answers may come by it", async () => {
  const rules = { allowPrivateNetwork: false, allowsPlainHttp: true };
  assert.equal(checkedUrl("http://1.1.1.1/ocsp", rules).href, "http://1.1.1.1/ocsp");
  const fetch = guardedFetch({ ...open, ...rules });
  for (const bad of ["http://127.0.0.1/", "http://169.254.169.254/latest", "http://localhost/", "ftp://1.1.1.1/"])
    await assert.rejects(fetch(bad), { kind: "refused" }, bad);
});
