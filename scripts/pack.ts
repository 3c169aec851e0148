// `npm run pack`: compiles each package and packs it into build/*.tgz, in the form for publishing, and the credential
// helper by itself. An installed package cannot contain TypeScript (Node strips no types below node_modules), so
// `exports` change from src/*.ts to dist/*.js. The package `moorage` depends on none: it holds a bundle of all.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { noticesOf } from "./bundle/notices.ts";
import { PROGRAMS, writeBundle } from "./bundle/programs.ts";
import { sbomOf } from "./bundle/sbom.ts";
import { makeIfStale } from "./gen/if-stale.ts";
import { releaseTime } from "./release/time.ts";
import { BUNDLED_PACKAGES, SERVER_PACKAGES } from "./server-packages.ts";

/** The packages of npm, each after those that it depends on. */
const PACKAGES = BUNDLED_PACKAGES;
const HELPER = "docker-credential-moorage";
/** The programs of the helper's own package, by name: each begins in this file of packages/cli/src. */
const HELPER_PROGRAMS = {
  [HELPER]: "credential/main",
  "moorage-credential-kubelet": "credential/kubelet-main",
  "moorage-keyring": "credential/keyring-main",
};
const root = dirname(import.meta.dirname);
const build = join(root, "build");

type Manifest = {
  version: string;
  license: string;
  private?: boolean;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  exports: Record<string, string>;
  bin?: Record<string, string>;
  files?: string[];
};

/** Runs a program to its end. When it fails, its own output has the reason, and the packing ends. */
function run(program: string, args: readonly string[], cwd: string): void {
  const { status } = spawnSync(program, args, { cwd, stdio: ["ignore", "inherit", "inherit"] });
  if (status !== 0) process.exit(1);
}

/** Compiles all packages together, so that types are checked between packages: to `<build>/compiled/<package>/src`. */
function compile(): void {
  const packages = join(root, "packages");
  const config = {
    extends: join(root, "tsconfig.json"),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      rootDir: packages,
      outDir: join(build, "compiled"),
      typeRoots: [join(root, "node_modules/@types")],
    },
    include: [
      `${packages}/api/src`,
      ...SERVER_PACKAGES.map(({ name }) => `${packages}/${name}/src`),
      `${packages}/cli/src/main.ts`,
      ...Object.values(HELPER_PROGRAMS).map((program) => `${packages}/cli/src/${program}.ts`),
    ],
    exclude: [`${packages}/**/*.test.ts`],
  };
  const path = join(build, "tsconfig.json");
  writeFileSync(path, JSON.stringify(config, null, 2));
  run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", path], root);
}

/** `./src/index.ts` as an export of the compiled package. */
function compiledExport(path: string): string | { types: string; default: string } {
  const inDist = path.replace(/^\.\/src\//, "./dist/");
  return path.endsWith(".ts")
    ? { types: inDist.replace(/\.ts$/, ".d.ts"), default: inDist.replace(/\.ts$/, ".js") }
    : inDist;
}

/**
 * Adds the files of the API reference page. They are not a dependency of the packed server, because installing that
 * package sends a request to a third party.
 */
function addViewer(dist: string): void {
  const viewer = join(root, "node_modules/swagger-ui-dist");
  for (const file of [
    "swagger-ui.css",
    "swagger-ui-bundle.js",
    "swagger-ui-bundle.js.LICENSE.txt",
    "LICENSE",
    "NOTICE",
  ])
    cpSync(join(viewer, file), join(dist, "transport/openapi/viewer", file));
}

/**
 * Writes what the package `moorage` runs: the command, the server and all that they start, with what they depend on,
 * as one bundle, in which each start takes a fraction of the processor time. Adds the licenses of what is in it, and
 * the list of it.
 */
async function addPrograms(stage: string, version: string): Promise<void> {
  const dist = join(stage, "dist");
  const modules = await writeBundle(dist, PROGRAMS, {
    // As if each module were compiled to a file of its own, which is what those of the server's package are.
    addressOf: (path) => {
      const [, , ...below] = relative(join(root, "packages"), path).split(sep);
      return `new URL("../${below.join("/").replace(/\.ts$/, ".js")}", import.meta.url).href`;
    },
    // Stack traces name files of the repository, which are nowhere on the machine.
    output: { sourcemapPathTransform: (path, map) => `moorage:///${relative(root, resolve(dirname(map), path))}` },
  });
  writeFileSync(join(stage, "THIRD-PARTY-NOTICES"), noticesOf(modules));
  writeFileSync(join(stage, "sbom.cdx.json"), sbomOf(modules, { name: "moorage", version }));
}

/** Adds the console, as the server looks for it. */
function addConsole(dist: string): void {
  cpSync(join(root, "packages/console/dist"), join(dist, "transport/http/console"), { recursive: true });
}

/** Adds the files that the server hands out at /cli, as it looks for them. */
function addCommandFiles(dist: string): void {
  cpSync(join(build, "command"), join(dist, "transport/http/command/built"), {
    recursive: true,
    filter: (path) => basename(path) !== "state",
  });
}

/** Adds the scripts of completion, the man pages and the reference. Returns what the manifest says of them. */
async function addDocuments(stage: string, version: string): Promise<{ man: string[] }> {
  // They import what makeIfStale may have to make first.
  const [{ manualPages }, { documentedProgram }] = await Promise.all([
    import("./cli-manual.ts"),
    import("./cli-tree.ts"),
  ]);
  const program = await documentedProgram();
  const date = releaseTime().slice(0, 10);
  mkdirSync(join(stage, "man"));
  for (const [file, text] of manualPages(program, join(root, "docs/cli"), { version, date }))
    writeFileSync(join(stage, "man", file), text);
  cpSync(join(root, "packages/cli/completions"), join(stage, "completions"), { recursive: true });
  cpSync(join(build, "docs"), join(stage, "docs"), { recursive: true });
  return {
    man: globSync("man/*.1", { cwd: stage })
      .toSorted()
      .map((path) => `./${path}`),
  };
}

/** Lays one package out in `<build>/<name>` in the form for publishing, and packs it. */
async function packOne(name: string): Promise<void> {
  const source = join(root, "packages", name);
  const stage = join(build, name);
  mkdirSync(stage);
  const {
    private: _private,
    devDependencies: _development,
    dependencies,
    ...manifest
  } = JSON.parse(readFileSync(join(source, "package.json"), "utf8")) as Manifest;
  if (name === "cli") await addPrograms(stage, manifest.version);
  else cpSync(join(build, "compiled", name, "src"), join(stage, "dist"), { recursive: true });
  if (name === "server" || name === "cli") {
    addViewer(join(stage, "dist"));
    addConsole(join(stage, "dist"));
    addCommandFiles(join(stage, "dist"));
  }
  const exports = Object.fromEntries(
    Object.entries(manifest.exports).map(([key, path]) => [key, compiledExport(path)]),
  );
  const folders = manifest.bin ? ["bin", "dist"] : ["dist"];
  if (manifest.bin) cpSync(join(source, "bin"), join(stage, "bin"), { recursive: true });
  const extra = name === "cli" ? await addDocuments(stage, manifest.version) : {};
  const files = [
    ...folders,
    ...(name === "cli" ? ["completions", "docs", "man", "THIRD-PARTY-NOTICES", "sbom.cdx.json"] : []),
  ];
  // What the command depends on is in its bundle.
  const written = { ...manifest, ...(name !== "cli" && { dependencies }), ...extra, exports, files };
  writeFileSync(join(stage, "package.json"), `${JSON.stringify(written, null, 2)}\n`);
  cpSync(join(root, "LICENSE"), join(stage, "LICENSE"));
  const own = join(source, "README.md");
  cpSync(existsSync(own) ? own : join(root, "README.md"), join(stage, "README.md"));
  run("npm", ["pack", "--silent", "--pack-destination", build], stage);
}

/** Modules of the server that the credential programs have a copy of, since they have no dependencies. */
const INLINED: ReadonlyMap<string, string> = new Map([
  ["@moorage/kernel/lib/authorities", join(build, "compiled", "kernel", "src", "lib", "authorities.js")],
]);

/** The compiled files that a file needs, itself included: what it imports by a relative path, and so on. */
function closure(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  for (const [, path = ""] of readFileSync(file, "utf8").matchAll(/(?:\bfrom |\bimport\(|\bimport )"([^"]+)"/g)) {
    const inlined = INLINED.get(path);
    if (path.startsWith(".")) closure(join(dirname(file), path), found);
    else if (inlined !== undefined) closure(inlined, found);
    else if (!path.startsWith("node:")) throw new Error(`${HELPER} has no dependencies, but ${file} imports ${path}`);
  }
  return found;
}

/**
 * Packs the credential programs by themselves: a CI job that logs in with its own token, or a node of Kubernetes,
 * installs some kilobytes, not the server. They consist of the same files as in the package `moorage`.
 */
function packHelper(): void {
  const stage = join(build, HELPER);
  const compiled = join(build, "compiled", "cli", "src");
  const inlined = [...INLINED.values()];
  const placeOf = (file: string): string =>
    inlined.includes(file)
      ? join(stage, "dist", "server", basename(file))
      : join(stage, "dist", relative(compiled, file));
  mkdirSync(join(stage, "bin"), { recursive: true });
  for (const [name, begin] of Object.entries(HELPER_PROGRAMS)) {
    for (const file of closure(join(compiled, `${begin}.js`))) {
      const path = placeOf(file);
      mkdirSync(dirname(path), { recursive: true });
      let text = readFileSync(file, "utf8");
      for (const [module, from] of INLINED) {
        const near = relative(dirname(path), placeOf(from));
        text = text.replaceAll(`"${module}"`, `"${near.startsWith(".") ? near : `./${near}`}"`);
      }
      writeFileSync(path, text);
    }
    const program = `#!/usr/bin/env node\nimport "../dist/${begin}.js";\n`;
    writeFileSync(join(stage, "bin", `${name}.js`), program, { mode: 0o755 });
  }
  const { version, license } = JSON.parse(readFileSync(join(root, "packages/cli/package.json"), "utf8")) as Manifest;
  const manifest = {
    name: HELPER,
    version,
    description:
      "Credential programs for Moorage, of docker, the kubelet, pip and uv: nothing but tokens that end, no secret kept.",
    license,
    type: "module",
    engines: { node: ">=22" },
    bin: Object.fromEntries(Object.keys(HELPER_PROGRAMS).map((name) => [name, `./bin/${name}.js`])),
    files: ["bin", "dist"],
  };
  writeFileSync(join(stage, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  cpSync(join(root, "LICENSE"), join(stage, "LICENSE"));
  cpSync(join(root, "docs/keyless.md"), join(stage, "README.md"));
  run("npm", ["pack", "--silent", "--pack-destination", build], stage);
}

// Other content of the folder stays, such as tools that took minutes to build.
for (const folder of ["compiled", HELPER, ...PACKAGES]) rmSync(join(build, folder), { recursive: true, force: true });
for (const archive of globSync("*.tgz", { cwd: build })) rmSync(join(build, archive));
mkdirSync(build, { recursive: true });
await makeIfStale();
compile();
run(process.execPath, [join(root, "scripts/console.ts")], root);
run(process.execPath, [join(root, "scripts/command-files.ts")], root);
for (const name of PACKAGES) await packOne(name);
packHelper();
