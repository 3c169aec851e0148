// `npm run pack`: compiles each package and packs it into build/*.tgz, in the form for publishing. An installed package
// cannot contain TypeScript (Node strips no types below node_modules), so `exports` change from src/*.ts to dist/*.js.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const PACKAGES = ["api", "server", "cli"];
const root = dirname(import.meta.dirname);
const build = join(root, "build");

type Manifest = {
  private?: boolean;
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
      `${packages}/server/src`,
      `${packages}/cli/src/main.ts`,
      `${packages}/cli/src/credential/main.ts`,
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

/** Lays one package out in `<build>/<name>` in the form for publishing, and packs it. */
function packOne(name: string): void {
  const source = join(root, "packages", name);
  const stage = join(build, name);
  mkdirSync(stage);
  cpSync(join(build, "compiled", name, "src"), join(stage, "dist"), { recursive: true });
  if (name === "server") addViewer(join(stage, "dist"));
  const {
    private: _private,
    devDependencies: _development,
    ...manifest
  } = JSON.parse(readFileSync(join(source, "package.json"), "utf8")) as Manifest;
  const exports = Object.fromEntries(
    Object.entries(manifest.exports).map(([key, path]) => [key, compiledExport(path)]),
  );
  const folders = manifest.bin ? ["bin", "dist"] : ["dist"];
  if (manifest.bin) cpSync(join(source, "bin"), join(stage, "bin"), { recursive: true });
  writeFileSync(join(stage, "package.json"), `${JSON.stringify({ ...manifest, exports, files: folders }, null, 2)}\n`);
  cpSync(join(root, "LICENSE"), join(stage, "LICENSE"));
  const own = join(source, "README.md");
  cpSync(existsSync(own) ? own : join(root, "README.md"), join(stage, "README.md"));
  run("npm", ["pack", "--silent", "--pack-destination", build], stage);
}

// Other content of the folder stays, such as tools that took minutes to build.
for (const folder of ["compiled", ...PACKAGES]) rmSync(join(build, folder), { recursive: true, force: true });
for (const archive of globSync("*.tgz", { cwd: build })) rmSync(join(build, archive));
mkdirSync(build, { recursive: true });
compile();
for (const name of PACKAGES) packOne(name);
