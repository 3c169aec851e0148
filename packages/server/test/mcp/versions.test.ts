// The official clients of both versions of the protocol against /mcp.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { CLIENTS, connectMcp } from "../support/mcp.ts";
import { type Platform, startPlatform } from "../support/platform.ts";
import { openTaggedRepo, type TaggedRepo } from "../support/tagged-repo.ts";

const READING = [
  "find_image",
  "tag_history",
  "resolve_as_of",
  "diff_images",
  "image_findings",
  "image_coverage",
  "list_unknown_images",
  "image_signatures",
  "list_signature_policies",
  "explain_access",
  "list_eol_tags",
  "gc_preview",
];

let platform: Platform;
let repo: TaggedRepo;
before(async () => {
  platform = await startPlatform();
  repo = await openTaggedRepo(platform, "app");
  await repo.set("1.0", repo.digests[0]);
});
after(() => platform.close());

for (const kind of CLIENTS) {
  test(`${kind}: lists the tools that read, and those that write when they are asked for`, async () => {
    const client = await connectMcp(kind, `${platform.url}/mcp`, await platform.token());
    assert.match(client.instructions, /write=true/);
    const tools = await client.tools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      READING,
    );
    for (const { annotations, inputSchema, outputSchema, title } of tools) {
      assert.deepEqual(annotations, {
        title,
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      });
      assert.equal((inputSchema as { type?: string }).type, "object");
      assert.equal((outputSchema as { type?: string }).type, "object");
    }
    await client.close();
    const writing = await connectMcp(kind, `${platform.url}/mcp?write=true`, await platform.token());
    const promote = (await writing.tools()).find(({ name }) => name === "promote");
    assert.deepEqual(promote?.annotations, {
      title: "Promote tags",
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: true,
      openWorldHint: false,
    });
    assert.doesNotMatch(writing.instructions, /write=true/);
    await writing.close();
  });

  test(`${kind}: calls a tool, whose answer has the form of its schema and is also a text`, async () => {
    const client = await connectMcp(kind, `${platform.url}/mcp`, await platform.token());
    const found = await client.call("find_image", { query: "acme/ap" });
    assert.equal(found.isError, false, found.text);
    const [first] = found.answer["results"] as { image: string; kind: string; repo_uid: string }[];
    assert.deepEqual([first?.image, first?.kind, first?.repo_uid], ["acme/app", "repo", repo.uid]);
    assert.match(found.text, /repo acme\/app/);
    await client.close();
  });

  test(`${kind}: an unknown tool, and one that writes where only reading was asked for, are errors`, async () => {
    const client = await connectMcp(kind, `${platform.url}/mcp`, await platform.token());
    for (const name of ["nothing", "promote"]) {
      const outcome = await client.call(name, { image: "acme/app", promotions: [{ tag: "x", from: "1.0" }] }).then(
        ({ isError, text }) => ({ isError, text }),
        (error: Error) => ({ isError: true, text: error.message }),
      );
      assert.equal(outcome.isError, true);
      assert.match(outcome.text, /not found|unknown/i);
    }
    await client.close();
  });

  test(`${kind}: a wrong argument is an error that names it`, async () => {
    const client = await connectMcp(kind, `${platform.url}/mcp`, await platform.token());
    for (const [name, args, pattern] of [
      ["find_image", { query: "x" }, /query/],
      ["tag_history", { image: "acme/app" }, /image: must name a tag/],
      ["tag_history", { image: "Acme" }, /image: must be an image/],
      ["resolve_as_of", { image: "acme/app:1.0", time: "yesterday" }, /time: must be an ISO 8601 time/],
      ["find_image", { query: "app", page_token: "x" }, /page_token/],
    ] as const) {
      const outcome = await client.call(name, args).then(
        ({ isError, text }) => ({ isError, text }),
        (error: Error) => ({ isError: true, text: error.message }),
      );
      assert.equal(outcome.isError, true, name);
      assert.match(outcome.text, pattern);
    }
    await client.close();
  });
}
