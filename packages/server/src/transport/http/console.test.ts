import assert from "node:assert/strict";
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openConsole } from "./console.ts";

test("a server that runs serves the console that was built since", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "moorage-console-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  write("index.html", "first");
  write("compressed", "");
  const console_ = openConsole(() => assert.fail("no error is expected"), folder) ?? assert.fail("it is not opened");
  const server = createServer(
    (request, response) => void console_.handle(request, response, { requestId: "1", remoteAddress: "" }),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const read = async (): Promise<string> =>
    await (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)).text();
  assert.equal(await read(), "first");
  rmSync(join(folder, "compressed"));
  write("index.html", "half-written");
  assert.equal(await read(), "first", "a build that has not ended is not served");
  write("index.html", "second");
  write("compressed", "");
  utimesSync(join(folder, "compressed"), new Date(), new Date(Date.now() + 60_000));
  assert.equal(await read(), "second");
});
