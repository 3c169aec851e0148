// `moorage tags history` on terminals: by whom, and how much of it fits.
import assert from "node:assert/strict";
import { test } from "node:test";
import { LAUNCHER } from "./commands.ts";
import { openQuick } from "./quick.ts";
import { noTerminal, onTerminal } from "./terminal.ts";

const NAME = "release-pipeline-of-the-storefront-team";

test(
  "the history of a tag says who by name, in 120 columns, and in 80 without cutting unsaid",
  { skip: noTerminal },
  async (t) => {
    const { done, run, url, env, folder } = await openQuick(t);
    const uid = (await done("identities", "create", `acme/${NAME}`, "-o", "id")).trim();
    await done("bindings", "create", "acme", "--identity-uid", uid, "--role-uid", "registry.push");
    const token = (await run(["token", "--identity", uid])).stdout.trim();
    const push = (build: string, as: Record<string, string>) =>
      run(["sample", "--push", `${url}/acme/app:1.0`, "--build", build], as);
    assert.equal((await push("1", env)).code, 0);
    const second = await push("2", { ...env, MOORAGE_TOKEN: token });
    assert.equal(second.code, 0, second.stderr);

    const table = async (columns: number): Promise<string[]> => {
      const args = [LAUNCHER, "tags", "history", "acme/app:1.0"];
      const terminal = await onTerminal(t, args, { cwd: folder, columns, env: { ...env, XDG_CONFIG_HOME: folder } });
      assert.equal(await terminal.exit(), 0, terminal.printed());
      return terminal.screen();
    };
    const wide = await table(120);
    assert.equal(wide.length, 3, wide.join("\n"));
    assert.match(wide[0] ?? "", /^WHEN +WHY +FROM +TO +WHO$/);
    assert.ok(wide[1]?.endsWith(` acme/${NAME}`), wide.join("\n"));
    assert.ok(wide[2]?.endsWith(" owner"), wide.join("\n"));
    assert.ok(!wide.join("\n").includes(uid), "a name, and no uid");

    const narrow = await table(80);
    assert.equal(narrow.length, 3, narrow.join("\n"));
    assert.match(narrow[1] ?? "", /…/, narrow.join("\n"));
    assert.ok(narrow.every((line) => line.length <= 80));
    assert.ok(narrow[2]?.endsWith(" owner"), narrow.join("\n"));
  },
);
