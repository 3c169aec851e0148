# Completion of moorage for PowerShell 5.1 and later:
#   moorage completion powershell | Out-String | Invoke-Expression
# It asks the command what can stand at the cursor, and has no list of commands of its own.
Register-ArgumentCompleter -Native -CommandName moorage -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $words = @($commandAst.CommandElements |
        Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition -or ($_.Extent.EndOffset -eq $cursorPosition -and $wordToComplete -eq '') } |
        ForEach-Object { if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value } else { $_.Extent.Text } })
    $current = $wordToComplete.Trim("'", '"')
    # PowerShell 5.1 leaves an empty argument out: the command takes a line that ends with -- as one with an empty word.
    $lines = @(& moorage __complete powershell -- @words $current 2>$null)
    if ($lines.Count -gt 0 -and $lines[0] -match '^:(files|folders)$') {
        return # PowerShell completes paths by itself
    }
    foreach ($line in $lines) {
        $word, $help = $line -split "`t", 2
        if (-not $help) { $help = $word }
        $text = if ($word -match '[\s''"$`;|&(){}@#,]') { "'" + ($word -replace "'", "''") + "'" } else { $word }
        [System.Management.Automation.CompletionResult]::new($text, $word, 'ParameterValue', $help)
    }
}
