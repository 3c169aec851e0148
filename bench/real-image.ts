import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { type Content, contentOf } from "./images.ts";
import { type TarFile, tarOf } from "./tar.ts";

// An image as people make them: a release of Debian with its packages and programs, an application of npm, one of
// Python. The shares are those of an image of 64 MiB; larger ones have more of everything.

const MIB = 2 ** 20;
const WHOLE = 64 * MIB;
const DEBIAN_PACKAGES = 300;
const PROGRAMS = 200;
const PROGRAM_BYTES = 64 * 1024;
const NPM_PACKAGES = 300;
const NPM_FILES = 8;
const PYTHON_PACKAGES = 100;
const PYTHON_FILES = 10;
const SOURCE_BYTES = 4_000;
const LIBRARY_BYTES = 200_000;
const [PLAIN, PROGRAM] = [0o644, 0o755];

/** The layers of an image. `bytes`: what they unpack to. `packages`: how many packages they hold. */
export interface RealImage {
  layers: Content[];
  bytes: number;
  packages: number;
}

/** An image whose layers unpack to about so many bytes. The same for the same number. */
export function realImage(bytes: number): RealImage {
  const share = bytes / WHOLE;
  const part = (count: number): number => Math.max(1, Math.round(count * share));
  const [debian, npm, python] = [part(DEBIAN_PACKAGES), part(NPM_PACKAGES), part(PYTHON_PACKAGES)];
  const application = [tarOf([...many(npm, npmPackage)]), tarOf([...many(python, pythonPackage)])];
  const rest = bytes - application.reduce((sum, { length }) => sum + length, 0);
  const base = tarOf(debianFiles(debian, part(PROGRAMS), rest));
  const layers = [base, ...application];
  return {
    layers: layers.map((layer) => contentOf(gzipSync(layer, { level: 1 }))),
    bytes: layers.reduce((sum, { length }) => sum + length, 0),
    packages: debian + npm + python,
  };
}

function* many(count: number, filesOf: (index: number) => TarFile[]): Generator<TarFile> {
  for (let index = 0; index < count; index += 1) yield* filesOf(index);
}

const file = (path: string, content: string, mode = PLAIN): TarFile => ({ path, mode, content: Buffer.from(content) });

// Larger than the window of gzip, so that no file repeats another one. Hexadecimal digits shrink to the half.
const TEXT = Array.from({ length: 2 ** 16 }, (_, n) => createHash("sha256").update(String(n)).digest("hex")).join("");
const STRIDE = 7_919;

/** Text, other for each seed. */
function source(seed: number, length: number): string {
  const from = (seed * STRIDE) % (TEXT.length - length);
  return TEXT.slice(from, from + length);
}

function debianFiles(packages: number, programs: number, bytes: number): TarFile[] {
  const status = Array.from(
    { length: packages },
    (_, n) =>
      `Package: debian-package-${n}\nStatus: install ok installed\nPriority: optional\nSection: libs\nInstalled-Size: ${n}\n` +
      `Maintainer: A Maintainer <maintainer@example.com>\nArchitecture: amd64\nMulti-Arch: same\nSource: debian-source-${n >> 1}\n` +
      `Version: 1.${n % 9}.0-${n % 5}+deb12u1\nDepends: libc6 (>= 2.34), debian-package-${n >> 1}\nDescription: a package\n` +
      ` ${source(n, 70)}\n ${source(n + 70, 70)}\n ${source(n + 140, 70)}\n`,
  ).join("\n");
  const files = [
    file("etc/os-release", `ID=debian\nVERSION_ID="12"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n`),
    file("var/lib/dpkg/status", status),
    ...Array.from({ length: packages }, (_, n) =>
      file(`usr/share/doc/debian-package-${n}/copyright`, source(n, SOURCE_BYTES)),
    ),
    ...Array.from({ length: programs }, (_, n) => ({
      path: `usr/bin/program-${n}`,
      mode: PROGRAM,
      content: programOf(n),
    })),
  ];
  let rest = bytes - files.reduce((sum, { content }) => sum + content.length, 0);
  for (let n = 0; rest > 0; n += 1, rest -= LIBRARY_BYTES)
    files.push(file(`usr/lib/x86_64-linux-gnu/library-${n}.so`, source(n, Math.min(rest, LIBRARY_BYTES))));
  return files;
}

/** A program of ELF without sections, whose data is searched for what compilers note. Source: System V ABI, 4 and 5. */
function programOf(seed: number): Buffer {
  const bytes = Buffer.alloc(PROGRAM_BYTES);
  bytes.write(source(seed, PROGRAM_BYTES), 0, "latin1");
  bytes.fill(0, 0, 64 + 56);
  bytes.write("7f454c46020101", 0, "hex");
  bytes.writeBigUInt64LE(64n, 32);
  bytes.writeUInt16LE(56, 54);
  bytes.writeUInt16LE(1, 56);
  // One segment of data that the program may write.
  bytes.writeUInt32LE(1, 64);
  bytes.writeUInt32LE(6, 68);
  bytes.writeBigUInt64LE(4_096n, 72);
  bytes.writeBigUInt64LE(4_096n, 80);
  bytes.writeBigUInt64LE(8_192n, 96);
  return bytes;
}

function npmPackage(n: number): TarFile[] {
  const folder = `app/node_modules/npm-package-${n}`;
  const json = {
    name: `npm-package-${n}`,
    version: `1.${n % 9}.${n % 7}`,
    description: source(n, 60),
    license: "MIT",
    main: "lib/index.js",
    repository: { type: "git", url: `https://example.com/npm-package-${n}.git` },
    dependencies: Object.fromEntries([1, 2, 3].map((step) => [`npm-package-${(n + step) % NPM_PACKAGES}`, "^1.0.0"])),
    keywords: ["bench", "package"],
  };
  return [
    file(`${folder}/package.json`, JSON.stringify(json, null, 2)),
    ...Array.from({ length: NPM_FILES }, (_, at) => file(`${folder}/lib/file-${at}.js`, source(n + at, SOURCE_BYTES))),
  ];
}

function pythonPackage(n: number): TarFile[] {
  const [folder, name, version] = ["usr/lib/python3/site-packages", `python-package-${n}`, `2.${n % 9}.${n % 7}`];
  const metadata = `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\nSummary: ${source(n, 60)}\nLicense: MIT\n\n${source(n, 2_000)}\n`;
  return [
    file(`${folder}/${name}-${version}.dist-info/METADATA`, metadata),
    file(`${folder}/${name}-${version}.dist-info/RECORD`, source(n, 1_000)),
    ...Array.from({ length: PYTHON_FILES }, (_, at) =>
      file(`${folder}/${name.replaceAll("-", "_")}/file_${at}.py`, source(n + at, SOURCE_BYTES)),
    ),
  ];
}
