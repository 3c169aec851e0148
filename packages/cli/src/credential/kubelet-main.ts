// The `moorage-credential-kubelet` program, which the kubelet runs for images of the registry.
import { lineOf } from "../command/failure.ts";
import { readInput } from "./input.ts";
import { answerKubelet, servedBy } from "./kubelet.ts";

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
