import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { COMMAND_VARIABLES, loadConfig, SETTINGS, unknownVariables } from "./index.ts";

test("a variable that sets nothing ends the start, with the name that is near and without its value", () => {
  const secret = "postgres://ada:geheim@db/moorage";
  for (const [wrong, right] of [
    ["MOORAGE_DATABSE_URL", "MOORAGE_DATABASE_URL"],
    ["MOORAGE_DATA_DIRS", "MOORAGE_DATA_DIR"],
    ["MOORAGE_TOKENS", "MOORAGE_TOKEN"],
  ] as const)
    assert.throws(
      () => loadConfig({ [wrong]: secret }),
      (error: Error) => {
        assert.equal(error.message, `${wrong}: there is no such setting; did you mean ${right}?`);
        return true;
      },
    );
  assert.throws(() => loadConfig({ MOORAGE_TELEPORT: secret }), /MOORAGE_TELEPORT: .*serve --help/);
  assert.throws(() => loadConfig({ MOORAGE_ABCDEF: "1", MOORAGE_GHIJKL: "1" }), /ABCDEF.*; MOORAGE_GHIJKL/);
});

test("empty variables, those of the command and of tests, and what Kubernetes sets for services are no errors", () => {
  const known = Object.fromEntries([...COMMAND_VARIABLES, "MOORAGE_TEST_SEED"].map((name) => [name, "x"]));
  const services = {
    MOORAGE_SERVICE_HOST: "10.0.0.1",
    MOORAGE_SERVICE_PORT: "8080",
    MOORAGE_SERVICE_PORT_HTTP: "8080",
    MOORAGE_PORT_8080_TCP: "tcp://10.0.0.1:8080",
    MOORAGE_PORT_8080_TCP_ADDR: "10.0.0.1",
    MOORAGE_POSTGRES_SERVICE_HOST: "10.0.0.2",
    MOORAGE_POSTGRES_PORT: "tcp://10.0.0.2:5432",
    MOORAGE_POSTGRES_PORT_5432_TCP_PROTO: "tcp",
  };
  assert.deepEqual(unknownVariables({ ...known, ...services, MOORAGE_NOTHING: "", PATH: "/bin", MOORAGE: "1" }), []);
  assert.equal(unknownVariables({ MOORAGE_POSTGRES_PORT: "5432" }).length, 1);
});

test("every variable that programs of this project read or print is known", () => {
  const packages = fileURLToPath(new URL("../../../", import.meta.url));
  const files = globSync("{kernel,platform,registry,security,libraries,server,cli,api}/{src,bin}/**/*.{ts,js}", {
    cwd: packages,
  });
  assert.ok(files.length > 1200, `${files.length} files`);
  const known = new Set([...SETTINGS.map(({ name }) => name), ...COMMAND_VARIABLES]);
  for (const file of files.filter((each) => !each.endsWith(".test.ts")))
    for (const [name] of readFileSync(`${packages}${file}`, "utf8").matchAll(/\bMOORAGE_[A-Z0-9_]*[A-Z0-9]\b/g))
      assert.ok(
        known.has(name) || name.startsWith("MOORAGE_TEST_") || isPart(name, known),
        `${file}: ${name} is in neither list of config/variables.ts`,
      );
});

/** Whether it is the beginning of known names, as in a pattern or in the name that a test of Kubernetes has. */
function isPart(name: string, known: ReadonlySet<string>): boolean {
  return [...known].some((each) => each.startsWith(`${name}_`));
}
