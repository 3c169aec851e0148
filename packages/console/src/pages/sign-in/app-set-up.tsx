import { encode } from "uqr";
import { Command } from "../../ui/command.tsx";
import { TextField } from "../../ui/field.tsx";
import styles from "./frame.module.css";

/** An authenticator app to set up: its QR code, its secret for typing, and a field for the code that it shows. */
export function AppSetUp({ uri, secret }: { uri: string; secret: string }) {
  const { data, size } = encode(uri);
  const path = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ""))).join("");
  return (
    <>
      <p>Scan this with an authenticator app, then enter the code that the app shows.</p>
      <svg className={styles.qr} viewBox={`0 0 ${size} ${size}`} role="img" aria-label="QR code for the app">
        <rect width={size} height={size} fill="#fff" />
        <path d={path} fill="#000" shapeRendering="crispEdges" />
      </svg>
      <details>
        <summary>I can't scan it</summary>
        <p>Enter this secret in the app:</p>
        <Command text={secret} label="secret" />
      </details>
      <CodeField help="Six digits" />
    </>
  );
}

/** The code of an authenticator app. */
export function CodeField({ help }: { help: string }) {
  return (
    <TextField
      label="Code"
      name="code"
      help={help}
      required
      autoFocus
      autoComplete="one-time-code"
      autoCapitalize="characters"
      spellCheck={false}
    />
  );
}
