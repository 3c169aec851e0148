// The `moorage` command. What takes no time to answer is answered before anything else is loaded: shells ask for
// completions at each key.
const argv = process.argv.slice(2);
const [first] = argv;

if (argv.length === 1 && (first === "--version" || first === "-V")) {
  const { ownVersion } = await import("./version.ts");
  console.log(ownVersion());
} else {
  const { run } = await import("./command/run.ts");
  await run(argv);
}
