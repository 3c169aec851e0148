import { lineOf } from "../command/failure.ts";
import { readInput } from "./input.ts";
import { answerKubelet, servedBy } from "./kubelet.ts";

/**
 * Runs `moorage-credential-kubelet`, which the kubelet runs for images of the registry, with the arguments of this
 * process, and sets the exit code.
 */
export async function answerThisKubelet(): Promise<void> {
  try {
    const served = servedBy(process.argv.slice(2));
    const { output, note } = await answerKubelet(await readInput(), served, process.env);
    if (note !== undefined) console.error(`moorage-credential-kubelet: ${note}`);
    console.log(output);
  } catch (error) {
    // The kubelet writes standard error into its log.
    console.error(`moorage-credential-kubelet: ${lineOf(error)}`);
    process.exitCode = 1;
  }
}
