/**
 * Runs `moorage` with these arguments. What takes no time to answer is answered before anything else is loaded: shells
 * ask for completions at each key.
 */
export async function start(argv: readonly string[]): Promise<void> {
  const [first] = argv;
  if (argv.length === 1 && (first === "--version" || first === "-V")) {
    const { ownVersion } = await import("./version.ts");
    console.log(ownVersion());
  } else if (first === "__complete" || first === "__complete-later") {
    const { answerCompletion } = await import("./completion/answer.ts");
    await answerCompletion(argv.slice(1), first === "__complete-later");
  } else {
    const { run } = await import("./run.ts");
    await run(argv);
  }
}
