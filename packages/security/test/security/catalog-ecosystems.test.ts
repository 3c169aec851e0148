import assert from "node:assert/strict";
import test from "node:test";
import { type TarEntry, zipOf } from "../../../server/test/support/catalog/archives.ts";
import { catalogOf, purlsOf } from "../../../server/test/support/catalog/catalog.ts";

const json = (path: string, content: unknown): TarEntry => ({ path, content: JSON.stringify(content) });
const text = (path: string, content: string): TarEntry => ({ path, content });

/** What is found, and which files are named as not read. */
async function found(...files: TarEntry[]): Promise<{ purls: string[]; unread: [path: string, reason: string][] }> {
  const { components, unread } = await catalogOf([files]);
  return { purls: components.map(({ purl }) => purl), unread: unread.map(({ path, reason }) => [path, reason]) };
}

test("PHP packages are found by what Composer installed, in the form of each of its versions", async () => {
  const http = { name: "Symfony/http-kernel", version: "v5.4.19", version_normalized: "5.4.19.0", license: ["MIT"] };
  const files = [
    json("app/vendor/composer/installed.json", {
      packages: [http, { name: "acme/own", version: "dev-main" }, { name: "nameless", version: "1.0" }, 5],
      dev: true,
    }),
    json("old/vendor/composer/installed.json", [{ name: "monolog/monolog", version: "1.0.0", license: ["MIT", "X"] }]),
    json("app/vendor/symfony/http-kernel/installed.json", { packages: [http] }),
    text("cut/vendor/composer/installed.json", '{"packages": ['),
  ];
  const { components, unread } = await catalogOf([files]);
  assert.deepEqual(
    components.map(({ purl, reader, licence }) => [purl, reader, licence]),
    [
      ["pkg:composer/acme/own@dev-main", "composer", ""],
      ["pkg:composer/symfony/http-kernel@v5.4.19", "composer", "MIT"],
      ["pkg:composer/monolog/monolog@1.0.0", "composer", "MIT OR X"],
    ],
  );
  assert.deepEqual(unread.map(({ path }) => path).toSorted(), [
    "app/vendor/composer/installed.json",
    "cut/vendor/composer/installed.json",
  ]);
  assert.match(unread[0]?.reason ?? "", /^2 packages in it are left out/);
});

test("gems are found by the stub of their specifications, their fields, or the name of the file", async () => {
  const folder = "usr/local/bundle/specifications";
  const stub = `# -*- encoding: utf-8 -*-\n# stub: nokogiri 1.13.9 x86_64-linux lib\n# stub: ext/nokogiri/extconf.rb\n
Gem::Specification.new do |s|
  s.name = "other".freeze
  s.version = "9.9"
  s.licenses = ["MIT".freeze, "Ruby".freeze]
end\n`;
  const fields = `Gem::Specification.new do |s|\n  s.name = %q{x}\n  s.name = "rack"\n  s.version = "2.2.3"\nend\n`;
  const { purls, unread } = await found(
    text(`${folder}/nokogiri-1.13.9-x86_64-linux.gemspec`, stub),
    text(`${folder}/rack-2.2.3.gemspec`, fields),
    text(`${folder}/default/net-http-0.3.0.pre.1.gemspec`, "require 'x'\n"),
    text(`${folder}/nothing.gemspec`, "exec 'rm'\n"),
    text("usr/local/bundle/gems/rack-2.2.3/rack.gemspec", fields),
  );
  assert.deepEqual(purls, ["pkg:gem/net-http@0.3.0.pre.1", "pkg:gem/nokogiri@1.13.9", "pkg:gem/rack@2.2.3"]);
  assert.deepEqual(unread, [[`${folder}/nothing.gemspec`, "it states neither a name nor a version"]]);
});

test("NuGet packages are found in what .NET programs depend on, without the projects of the program", async () => {
  const libraries = {
    "Shop/1.0.0": { type: "project" },
    "Newtonsoft.Json/13.0.1": { type: "package", serviceable: true },
    "runtimepack.Microsoft.NETCore.App.Runtime.linux-x64/8.0.1": { type: "runtimepack" },
    nameless: { type: "package" },
  };
  const { purls, unread } = await found(
    text("app/Shop.deps.json", `\uFEFF${JSON.stringify({ libraries })}`),
    json("app/none.deps.json", []),
  );
  assert.deepEqual(purls, [
    "pkg:nuget/Microsoft.NETCore.App.Runtime.linux-x64@8.0.1",
    "pkg:nuget/Newtonsoft.Json@13.0.1",
  ]);
  assert.deepEqual(unread.map(([path]) => path).toSorted(), ["app/Shop.deps.json", "app/none.deps.json"]);
});

test("packages of Conda and R are found where they are installed", async () => {
  const description = (more: string): string =>
    `Package: jsonlite\nVersion: 1.8-4\nLicense: MIT + file LICENSE\nDescription: A\n  Version: 9\n${more}`;
  const built = "Built: R 4.3.1; ; 2023-06-01 00:00:00 UTC; unix\n";
  const { purls, unread } = await found(
    json("opt/conda/conda-meta/openssl-3.0.8-h0.json", { name: "openssl", version: "3.0.8", license: "Apache-2.0" }),
    json("opt/conda/conda-meta/empty.json", { name: "x" }),
    text("opt/conda/conda-meta/history", "{"),
    text("usr/lib/R/site-library/jsonlite/DESCRIPTION", description(built)),
    text("usr/lib/R/library/Biobase/DESCRIPTION", description(`${built}biocViews: Infrastructure\n`)),
    text("src/jsonlite/DESCRIPTION", description("")),
  );
  assert.deepEqual(purls, ["pkg:conda/openssl@3.0.8", "pkg:generic/jsonlite@1.8-4", "pkg:cran/jsonlite@1.8-4"]);
  assert.deepEqual(unread, [["opt/conda/conda-meta/empty.json", "it states neither a name nor a version"]]);
});

test("applications of Erlang and Elixir are found, those of Hex apart from what OTP brings along", async () => {
  const folder = "app/lib";
  const app = (name: string, body: string): TarEntry => text(`${folder}/${name}/ebin/${name}.app`, body);
  const { purls, unread } = await found(
    app(
      "phoenix",
      `%% {application, other, [{vsn, "9"}]}.\n{application,phoenix,\n [{modules,['Elixir.Phoenix',phoenix]},
        {env,[{x,[{vsn,"0.0"}]}]}, {description,"say \\"{vsn, 3}\\""},\n  {vsn,"1.7.10"}, {registered,[]}]}.\n`,
    ),
    app("ssl", `{application, ssl, [{description,"TLS"}, {vsn,"11.1"}]}.`),
    app("elixir", `{application,'elixir',[{vsn,<<"x">>},{vsn,"1.16.0"}]}.`),
    app("open", `{application,open,[{description,"never ends`),
    app("other", `{something, other, [{vsn,"1"}]}.`),
    text("app/phoenix.app", `{application,phoenix,[{vsn,"1"}]}.`),
  );
  assert.deepEqual(purls, ["pkg:otp/elixir@1.16.0", "pkg:hex/phoenix@1.7.10", "pkg:otp/ssl@11.1"]);
  assert.deepEqual(unread.map(([path]) => path).toSorted(), [
    "app/lib/open/ebin/open.app",
    "app/lib/other/ebin/other.app",
  ]);
});

test("Python eggs are read as archives", async () => {
  const egg = zipOf({
    "EGG-INFO/PKG-INFO": "Metadata-Version: 1.2\nName: Old.Name\nVersion: 1.2\nLicense: MIT\n\nName: body\n",
    "old/__init__.py": "",
    "other/EGG-INFO/PKG-INFO": "Name: inner\nVersion: 1\n",
  });
  const { purls, unread } = await found(
    { path: "lib/python3/site-packages/Old.Name-1.2-py3.egg", content: egg },
    { path: "lib/empty.egg", content: zipOf({ "x.py": "" }) },
    { path: "lib/cut.egg", content: egg.subarray(0, 60) },
    text("lib/develop.egg", "../src"),
    text("lib/folder.egg/EGG-INFO/PKG-INFO", "Name: unpacked\nVersion: 2\n"),
  );
  assert.deepEqual(purls, ["pkg:pypi/unpacked@2", "pkg:pypi/old-name@1.2"]);
  assert.deepEqual(unread.map(([path]) => path).toSorted(), ["lib/cut.egg", "lib/empty.egg"]);
});

const PNP = {
  __info: ["it's a \\ test", "}"],
  packageRegistryData: [
    [null, [[null, { packageLocation: "./" }]]],
    ["app", [["workspace:.", { packageLocation: "./" }]]],
    [
      "lodash",
      [
        ["npm:4.17.20", {}],
        ["npm:4.17.21::__archiveUrl=https%3A%2F%2Fx", {}],
      ],
    ],
    [
      "@babel/core",
      [
        ["npm:7.1.0", {}],
        ["virtual:0a#npm:7.1.0", {}],
      ],
    ],
    ["resolve", [["patch:resolve@npm%3A1.22.8#optional!builtin<compat/resolve>::version=1.22.8&hash=c3c19d", {}]]],
    ["git", [["https://example.com/git.git#commit=1", {}]]],
  ],
};

test("packages that Yarn runs from its cache are found in the archives and in the map of them", async () => {
  const expected = [
    "pkg:npm/%40babel/core@7.1.0",
    "pkg:npm/lodash@4.17.20",
    "pkg:npm/lodash@4.17.21",
    "pkg:npm/resolve@1.22.8",
  ];
  const data = JSON.stringify(PNP, null, 2);
  const escaped = data.replaceAll("\\", "\\\\").replaceAll("'", "\\'").replaceAll("\n", "\\\n");
  const programs = {
    ".pnp.data.json": data,
    ".pnp.cjs": `#!/usr/bin/env node\nconst RAW_RUNTIME_STATE =\n'${escaped}';\n\nmodule.exports = {'x': 1}\n`,
    ".pnp.js": `function $$SETUP_STATE(hydrateRuntimeState) {\n  return hydrateRuntimeState(${data}, {basePath: 1});\n}\n`,
  };
  for (const [name, content] of Object.entries(programs))
    assert.deepEqual(await found(text(`app/${name}`, content)), { purls: expected, unread: [] }, name);
  const archive = zipOf({
    "node_modules/@babel/core/package.json": JSON.stringify({ name: "@babel/core", version: "7.1.0", license: "MIT" }),
    "node_modules/@babel/core/lib/package.json": JSON.stringify({ name: "inner", version: "1.0.0" }),
  });
  const { purls, unread } = await found(
    { path: "app/.yarn/cache/@babel-core-npm-7.1.0-a-b.zip", content: archive },
    { path: "root/.yarn/berry/cache/cut.zip", content: archive.subarray(0, 90) },
    { path: "app/.yarn/cache/empty.zip", content: zipOf({ x: "" }) },
    { path: "app/cache/other.zip", content: archive },
    text("split/.pnp.cjs", `const data = require("./.pnp.data.json");`),
    text("none/.pnp.cjs", "module.exports = {}"),
    text("bad/.pnp.data.json", "{}"),
  );
  assert.deepEqual(purls, ["pkg:npm/%40babel/core@7.1.0"]);
  assert.deepEqual(unread.map(([path]) => path).toSorted(), [
    "app/.yarn/cache/empty.zip",
    "bad/.pnp.data.json",
    "none/.pnp.cjs",
    "root/.yarn/berry/cache/cut.zip",
  ]);
});

test("files made to exhaust the readers are named, and end nothing", async () => {
  const deep = "[".repeat(200_000);
  const files = [
    text("a/vendor/composer/installed.json", deep),
    text("a/x.deps.json", `{"libraries": ${deep}`),
    text("a/conda-meta/x.json", deep),
    text("a/.pnp.data.json", deep),
    text("a/.pnp.cjs", `return hydrateRuntimeState({${"{".repeat(200_000)}`),
    text("b/.pnp.cjs", `RAW_RUNTIME_STATE = '${"\\\\".repeat(200_000)}`),
    text("a/ebin/x.app", `{application,x,[${'{a,"\\'.repeat(100_000)}`),
    text("a/specifications/x-y.gemspec", `# stub: ${"a ".repeat(100_000)}\n${"  s.name =  ".repeat(10_000)}`),
    { path: "a/bomb.egg", content: zipOf({ "EGG-INFO/PKG-INFO": Buffer.alloc(9 * 1024 * 1024, 0x61) }) },
    text("a/library/x/DESCRIPTION", `Built: x\n${"Package: \n".repeat(100_000)}`),
  ];
  const { unread } = await found(...files, json("ok.deps.json", { libraries: { "A/1": { type: "package" } } }));
  assert.deepEqual(unread.map(([path]) => path).toSorted(), files.map(({ path }) => path).toSorted());
  assert.deepEqual(await purlsOf([json("ok.deps.json", { libraries: { "A/1": { type: "package" } } })]), [
    "pkg:nuget/A@1",
  ]);
});
