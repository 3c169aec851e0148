import assert from "node:assert/strict";
import { test } from "node:test";
import { openNameServer } from "../../../../server/test/support/name-server.ts";
import { createResolver, type NameResolver } from "./resolver.ts";
import { parseHosts, parseSearch } from "./system-files.ts";

test("names are asked of the servers: both families, absent names, and concurrent callers together", async (t) => {
  const server = await openNameServer(t, { "both.test": ["192.0.2.1", "2001:db8::1"], "four.test": ["192.0.2.2"] });
  const resolve = createResolver({ servers: [server.address] });
  assert.deepEqual(await resolve("Both.test"), [
    { address: "192.0.2.1", family: 4 },
    { address: "2001:db8::1", family: 6 },
  ]);
  server.questions.length = 0;
  await Promise.all(Array.from({ length: 20 }, () => resolve("four.test")));
  assert.deepEqual(server.questions.toSorted(), ["four.test A", "four.test AAAA"]);
  await assert.rejects(resolve("nowhere.test"), { code: "ENOTFOUND" });
  assert.deepEqual(await resolve("192.0.2.9"), [{ address: "192.0.2.9", family: 4 }]);
  assert.deepEqual(
    (await resolve("localhost")).map(({ address }) => address),
    ["127.0.0.1", "::1"],
  );
});

test("names that are never answered are given up, and hold back no other name meanwhile", async (t) => {
  const server = await openNameServer(t, { "good.test": ["192.0.2.1"] });
  const ended: string[] = [];
  const silent = (resolve: NameResolver) =>
    Array.from({ length: 100 }, (_, at) =>
      assert.rejects(resolve(`${at}.silent`), { code: "EAI_AGAIN" }).then(() => ended.push("silent")),
    );
  // They wait for seconds: longer than the other name can take.
  const patient = createResolver({ servers: [server.address] });
  const waiting = silent(patient);
  await patient("good.test").then(() => ended.push("good"));
  assert.deepEqual(ended, ["good"]);
  await Promise.all([...silent(createResolver({ servers: [server.address], timeoutMs: 300 })), ...waiting]);
  assert.equal(ended.length, 201);
});

test("an address of one family is used although the server is silent about the other", async (t) => {
  const server = await openNameServer(t, { "half.test": ["192.0.2.1"] }, ["half.test AAAA"]);
  const found = await createResolver({ servers: [server.address] })("half.test");
  assert.deepEqual(found, [{ address: "192.0.2.1", family: 4 }]);
});

test("the hosts file and the search list are read as the operating system does", () => {
  const hosts = parseHosts("# a comment\n127.0.0.1\tlocalhost Local # more\n::1 localhost\nnot an address\n\n");
  assert.deepEqual(
    [...hosts].map(([name, found]) => [name, found.map(({ address }) => address).join()]),
    [
      ["localhost", "127.0.0.1,::1"],
      ["local", "127.0.0.1"],
    ],
  );
  assert.deepEqual(parseSearch("nameserver 192.0.2.1\nsearch a.example b.example.\noptions timeout:1 ndots:5\n"), {
    search: ["a.example", "b.example"],
    ndots: 5,
  });
  assert.deepEqual(parseSearch(""), { search: [], ndots: 1 });
});
