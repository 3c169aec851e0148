#!/usr/bin/env node
// NAME_OF_THE_PROGRAM VERSION_OF_THE_PROGRAM, one file for Node 22 or later. Source: Moorage, Apache-2.0.
// The licenses of what is in it stand at its end. What it runs is below, compressed.
// Very old versions of Node must be able to read what stands here: they say then which one is needed.
(function () {
  const LEAST_NODE_MAJOR = 22;
  // Below a package.json of type "module" this file is a module, which has no `require`.
  const builtin = typeof require === "function" ? require : process.getBuiltinModule;
  if (Number(process.versions.node.split(".")[0]) < LEAST_NODE_MAJOR) {
    console.error(
      `NAME_OF_THE_PROGRAM needs Node ${LEAST_NODE_MAJOR} or later, this is ${process.version}: ` +
        "get a newer one from https://nodejs.org, or take the executable that needs none",
    );
    process.exit(1);
  }
  if (builtin === undefined) {
    // Node before 22.3.
    console.error("NAME_OF_THE_PROGRAM cannot run below a package.json of type module: move it to another folder");
    process.exit(1);
  }
  const vm = builtin("vm");
  const zlib = builtin("zlib");
  const PARTS = "PARTS_OF_THE_PROGRAM";
  const loaded = Object.create(null);
  function load(id) {
    const name = id.slice(0, 2) === "./" ? id.slice(2) : id;
    if (!Object.hasOwn(PARTS, name)) return builtin(id);
    if (loaded[name] !== undefined) return loaded[name].exports;
    const part = { exports: {} };
    loaded[name] = part;
    try {
      const code = zlib.inflateRawSync(Buffer.from(PARTS[name], "base64")).toString("utf8");
      const wrapped = `(function (require, module, exports, __filename) {${code}\n})`;
      const run = new vm.Script(wrapped, { filename: `NAME_OF_THE_PROGRAM/${name}.cjs` }).runInThisContext();
      run(load, part, part.exports, process.argv[1]);
    } catch (error) {
      delete loaded[name];
      throw error;
    }
    return part.exports;
  }
  load("NAME_OF_THE_PROGRAM");
})();
