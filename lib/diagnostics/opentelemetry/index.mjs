import opentelemetry from './index.js'

export const { BoxofficeInstrumentation } = opentelemetry
