import assert from "node:assert/strict";
import { test } from "node:test";
import { pullCommand, timedTag, TOOLS } from "./pull-commands.ts";

const AT_MS = Date.parse("2026-07-04T09:30:15.250Z");

test("a tag as of a moment names its second in UTC", () => {
  assert.equal(timedTag("1.0", AT_MS, AT_MS + 5_000), "1.0--at--20260704T093015Z");
});

test("there is none for a second that has not ended, or for a long tag", () => {
  assert.equal(timedTag("1.0", AT_MS, AT_MS + 100), undefined);
  assert.equal(timedTag("a".repeat(107), AT_MS, AT_MS + 5_000), undefined);
});

test("each tool has its command, by digest and by tag", () => {
  const image = { host: "registry.example:5000", name: "acme/team/app" };
  const commands = TOOLS.map((tool) => pullCommand(tool, { ...image, reference: "@sha256:aa" }));
  assert.deepEqual(commands, [
    "docker pull registry.example:5000/acme/team/app@sha256:aa",
    "podman pull registry.example:5000/acme/team/app@sha256:aa",
    "skopeo copy docker://registry.example:5000/acme/team/app@sha256:aa oci:app",
    "crane pull registry.example:5000/acme/team/app@sha256:aa app.tar",
    "helm pull oci://registry.example:5000/acme/team/app@sha256:aa",
    "image: registry.example:5000/acme/team/app@sha256:aa",
  ]);
  assert.equal(
    pullCommand("helm", { ...image, reference: ":1.0" }),
    "helm pull oci://registry.example:5000/acme/team/app --version 1.0",
  );
});
