import assert from "node:assert/strict";
import { test } from "node:test";
import { pushesOf } from "./pushes.ts";

const tag = (repo: string, name: string, digest: string, time: string) => ({
  uid: `org/${repo}/${name}`,
  name,
  digest,
  updateTime: `2026-11-27T${time}Z`,
  deprecated: false,
  bundles: [],
});

test("tags that one push moved share a row; another digest, image or time is another push", () => {
  const pushes = pushesOf([
    tag("web", "latest", "sha256:b", "12:00:05"),
    tag("web", "2.1", "sha256:b", "12:00:04"),
    tag("web", "2.0", "sha256:a", "12:00:03"),
    tag("api", "latest", "sha256:b", "12:00:02"),
    tag("web", "stable", "sha256:b", "11:30:00"),
  ]);
  assert.deepEqual(
    pushes.map(({ repoUid, tags }) => [repoUid, tags.join(" ")]),
    [
      ["org/web", "latest 2.1"],
      ["org/web", "2.0"],
      ["org/api", "latest"],
      ["org/web", "stable"],
    ],
  );
});
